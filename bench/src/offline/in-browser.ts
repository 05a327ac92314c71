/** The checks in a page, called as `measureOffline`. */
import { portableCrypto } from '@svc/protocol';
import { type Given, measureCases, type Turns } from './cases.ts';

Object.assign(globalThis, {
  measureOffline: (given: Given, turns: Turns) =>
    measureCases(given, portableCrypto, turns, () => performance.now()),
});
