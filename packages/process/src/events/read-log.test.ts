/** A fault with one subscription while the log is read does not affect others. */
import { expect, it } from 'vitest';
import { type ReadLogDeps, readLog } from './read-log.ts';

const GO_ON = new AbortController().signal;

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
      open: async (id) => opened.push(id) - opened.length + 1,
      ...deliveries,
    },
    log: { warn: (name, fields) => warned.push([name, fields]) },
  };
  return { deps, opened, warned };
};
const refuse = async () => {
  throw new Error('refused');
};

it('what is in the log is opened also where nothing can be moved into it, and that is said', async () => {
  const { deps, opened } = depsOf({ sequence: refuse }, ['a', 'b']);
  await expect(readLog(deps, GO_ON)).rejects.toThrow('refused');
  expect(opened).toEqual(['a', 'b']);
});

it('one that cannot be opened keeps none of those behind it', async () => {
  const seen: string[] = [];
  const open = async (id: string) => {
    seen.push(id);
    return id === 'a' ? refuse() : 1;
  };
  const { deps, warned } = depsOf({ open }, ['a', 'b', 'c']);
  expect(await readLog(deps, GO_ON)).toEqual({ sequenced: 0, opened: 2, isDone: true });
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(warned).toEqual([['webhook.not_opened', { subscription_id: 'a', reason: 'refused' }]]);
});

it('each is asked once in a round, however often it is behind', async () => {
  const { deps, opened } = depsOf({}, ['a', 'b']);
  expect(await readLog(deps, GO_ON)).toMatchObject({ opened: 2, isDone: true });
  expect(opened).toEqual(['a', 'b']);
});

it('what is in the log is opened also where there is always more to move', async () => {
  const { deps, opened } = depsOf({ sequence: async () => 1_000 }, ['a']);
  expect((await readLog(deps, GO_ON)).sequenced).toBeGreaterThan(0);
  expect(opened).toEqual(['a']);
});

it('goes on moving where more was done than was asked for: a step for everyone counts too', async () => {
  const steps = [2_000, 1_500, 3];
  const { deps } = depsOf({ sequence: async () => steps.shift() ?? 0 }, []);
  expect(await readLog(deps, GO_ON)).toMatchObject({ sequenced: 3_503 });
});
