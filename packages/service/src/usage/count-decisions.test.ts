import { expect, it } from 'vitest';
import { ServiceError } from '../errors.ts';
import { StoreError, TooManyCountsError } from '../ports/store.ts';
import { getDecisionStats } from './decision-stats.ts';
import { getUsage } from './get-usage.ts';

const OPERATOR = { class: 'admin', subject: null, keyId: null } as const;
const depsWith = (error: Error) =>
  ({
    store: { report: () => Promise.reject(error) },
    clock: { nowMs: () => Date.now() },
  }) as unknown as Parameters<typeof getDecisionStats>[0];

it('a period that needs too much counting is refused with INVALID_REQUEST, which says what to ask for', async () => {
  const deps = depsWith(new TooManyCountsError(7));
  for (const asked of [
    getUsage(deps, OPERATOR, {}),
    getUsage(deps, OPERATOR, { by: 'key' }),
    getDecisionStats(deps, OPERATOR, {}),
  ])
    await expect(asked).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/since, until: must be at 00:00 UTC.* 7 /),
    });
});

it('any other error of storage is passed on unchanged', async () => {
  const error = new StoreError('refused', 'nothing');
  await expect(getUsage(depsWith(error), OPERATOR, {})).rejects.toBe(error);
  expect(error).not.toBeInstanceOf(ServiceError);
});
