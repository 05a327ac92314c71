/** Three past days in a deployment's ledger: a small one, an empty one and a large one. No day is closed yet. */
import { parseHash } from '@svc/merkle';
import { awayFromMidnight, daysAgo, insertReceipts, moveFirstDay, receiptIdsOf } from '@svc/testkit';
import { beforeAll } from 'vitest';
import { ADMIN_TOKEN } from './api-node.ts';
import type { Deployment } from './deployment.ts';

export const SIZES = [3, 0, 1_500] as const;
export const AN_HOUR = 'public, max-age=3600';

const dayAt = (i: number): string => daysAgo(SIZES.length - i);

/** Declares them for a test file. `ids` has the Receipt ids of each day, in the order of its leaves. */
export const withThreeDays = async (deployment: Deployment) => {
  await awayFromMidnight();
  const [small, empty, large] = [dayAt(0), dayAt(1), dayAt(2)];
  const days = [small, empty, large];
  const ids = days.map((day, i) => receiptIdsOf(day, SIZES[i] ?? 0));
  beforeAll(async () => {
    const { databaseUrl } = deployment;
    await moveFirstDay(databaseUrl, small);
    for (const [i, day] of days.entries()) await insertReceipts(databaseUrl, ids[i] ?? [], [day]);
  });
  return {
    ...{ small, empty, large, days, ids },
    get: (path: string) => deployment.call('GET', path),
    close: () => deployment.call('POST', '/checkpoints/close', { key: ADMIN_TOKEN }),
  };
};

/** The bytes of `sha256:<hex>`. */
export const hashOf = (text: unknown): Uint8Array =>
  parseHash(String(text).replace('sha256:', '')) ?? new Uint8Array(0);
