import { CHECK_IDS } from '@svc/protocol';
import { expect, it } from 'vitest';
import { STAGES } from './check-meanings.ts';

it('the stages list the checks of the engine’s pipeline, in its order', () => {
  expect(STAGES.flatMap(({ ids }) => ids)).toEqual(CHECK_IDS);
});
