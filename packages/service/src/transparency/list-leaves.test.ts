/** While a long day is listed, the other work of an API node goes on. */
import { receiptIdsOf } from '@svc/testkit';
import { expect, it } from 'vitest';
import { listLeaves } from './list-leaves.ts';

const DAY = '2026-11-20';
const LEAVES = 5_000;

it('listLeaves gives at most 256 leaves at a time, and other work gets a turn after each part', async () => {
  const ids = receiptIdsOf(DAY, LEAVES);
  const checkpoints = {
    find: async () => ({ treeSize: LEAVES }),
    listReceiptIds: async (_: string, start: { after: string } | null, limit: number) => {
      const from = start === null ? 0 : ids.indexOf(start.after as never) + 1;
      return ids.slice(from, from + limit);
    },
  };
  const { text } = await listLeaves({ store: { checkpoints } as never }, DAY);
  let leaves = 0;
  let turns = 0;
  let waiting = setImmediate(() => {});
  const wait = () => {
    clearImmediate(waiting);
    waiting = setImmediate(() => {
      turns += 1;
    });
  };
  wait();
  let parts = 0;
  for await (const part of text) {
    const lines = part.split('\n').length - 1;
    expect(lines).toBeLessThanOrEqual(256);
    leaves += lines;
    parts += 1;
    expect(turns).toBe(parts);
    wait();
  }
  expect(leaves).toBe(LEAVES);
});
