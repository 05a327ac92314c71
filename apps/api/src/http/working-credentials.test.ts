import { expect, it } from 'vitest';
import type { Caller } from './caller.ts';
import { WorkingCredentials } from './working-credentials.ts';

it('A credential that is still in use is not evicted by any number of others', () => {
  const caller = {} as Caller;
  const working = new WorkingCredentials(3);
  working.add('victim', caller);
  for (let i = 0; i < 10; i++) {
    working.add(`other ${i}`, caller);
    working.add('victim', caller);
  }
  expect(working.find('victim')).toBe(caller);
  expect(working.find('other 0')).toBeUndefined();
});
