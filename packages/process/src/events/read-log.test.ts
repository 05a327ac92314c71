/** A fault with one subscription while the log is read does not affect others. */
import { expect, it } from 'vitest';
import { type ReadLogDeps, readLog } from './read-log.ts';

const GO_ON = new AbortController().signal;
const ONE = { opened: 1, hasMore: false };

const depsOf = (
  {
    sequence = async () => 0,
    ...deliveries
  }: Partial<ReadLogDeps['eventLog'] & ReadLogDeps['eventDeliveries']>,
  behind: readonly string[],
) => {
  const opened: string[] = [];
  const warned: unknown[] = [];
  const deps: ReadLogDeps = {
    eventLog: { sequence },
    eventDeliveries: {
      takeBehind: async () => behind,
      open: async (id) => {
        opened.push(id);
        return ONE;
      },
      ...deliveries,
    },
    log: { warn: (name, fields) => warned.push([name, fields]) },
  };
  return { deps, opened, warned };
};
const refuse = async () => {
  throw new Error('refused');
};

it('events in the log are opened even if none can be moved into it, and the round then fails', async () => {
  const { deps, opened } = depsOf({ sequence: refuse }, ['a', 'b']);
  await expect(readLog(deps, GO_ON)).rejects.toThrow('refused');
  expect(opened).toEqual(['a', 'b']);
});

it('a subscription that cannot be opened is logged, and those behind it are opened', async () => {
  const seen: string[] = [];
  const open = async (id: string) => {
    seen.push(id);
    return id === 'a' ? refuse() : ONE;
  };
  const { deps, warned } = depsOf({ open }, ['a', 'b', 'c']);
  expect(await readLog(deps, GO_ON)).toEqual({ sequenced: 0, opened: 2, isDone: true });
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(warned).toEqual([['webhook.not_opened', { subscription_id: 'a', reason: 'refused' }]]);
});

it('each subscription is opened once in a round, even if it is always listed as behind', async () => {
  const { deps, opened } = depsOf({}, ['a', 'b']);
  expect(await readLog(deps, GO_ON)).toMatchObject({ opened: 2, isDone: true });
  expect(opened).toEqual(['a', 'b']);
});

it('a subscription that has more to read is read on in the same round, after all others, until it has read all', async () => {
  const parts = [0, 0, 2];
  const seen: string[] = [];
  const open = async (id: string) => {
    seen.push(id);
    return id === 'b' ? { opened: parts.shift() ?? 0, hasMore: parts.length > 0 } : ONE;
  };
  const { deps } = depsOf({ open }, ['a', 'b', 'c']);
  expect(await readLog(deps, GO_ON)).toMatchObject({ opened: 4, isDone: true });
  expect(seen).toEqual(['a', 'b', 'c', 'b', 'b']);
});

it('a round is not done while a subscription has more to read', async () => {
  const { deps } = depsOf({ open: async () => ({ opened: 0, hasMore: true }) }, ['a']);
  expect(await readLog(deps, GO_ON)).toMatchObject({ opened: 0, isDone: false });
});

it('events in the log are opened even if there are always more to move into it', async () => {
  const { deps, opened } = depsOf({ sequence: async () => 1_000 }, ['a']);
  expect((await readLog(deps, GO_ON)).sequenced).toBeGreaterThan(0);
  expect(opened).toEqual(['a']);
});

it('moving continues after a step that moved more than was asked for', async () => {
  const steps = [2_000, 1_500, 3];
  const { deps } = depsOf({ sequence: async () => steps.shift() ?? 0 }, []);
  expect(await readLog(deps, GO_ON)).toMatchObject({ sequenced: 3_503 });
});
