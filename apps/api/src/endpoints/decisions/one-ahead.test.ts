import { tenantAt } from '@svc/service';
import { expect, it } from 'vitest';
import { EXPORTS, StreamTurns } from '../stream-turns.ts';
import { oneAhead } from './one-ahead.ts';

/** A generator of numbers from 1, and its state. */
const create = (count: number, failsAt = 0) => {
  const state = { made: 0, hasEnded: false };
  async function* make() {
    try {
      for (let i = 1; i <= count; i++) {
        if (i === failsAt) throw new Error('storage went away');
        state.made = i;
        yield i;
      }
    } finally {
      state.hasEnded = true;
    }
  }
  return { state, items: make() };
};
const settled = () => new Promise(setImmediate);

it('oneAhead produces one item ahead of the reader, and no more', async () => {
  const { state, items } = create(5);
  const ahead = oneAhead(items);
  for (let i = 1; i <= 3; i++) {
    expect(await ahead.next()).toEqual({ done: false, value: i });
    await settled();
    expect(state.made).toBe(i + 1);
  }
  await ahead.return(undefined);
  expect(state).toEqual({ made: 4, hasEnded: true });
});

it('oneAhead throws a failure of the source in order, after all items before it', async () => {
  const ahead = oneAhead(create(5, 3).items);
  expect([await ahead.next(), await ahead.next()].map(({ value }) => value)).toEqual([1, 2]);
  await settled();
  await expect(ahead.next()).rejects.toThrow('storage went away');
});

it('An export keeps its turn until its last part was read, even if that was produced earlier', async () => {
  const turns = new StreamTurns(EXPORTS);
  const tenant = tenantAt('a');
  const begun = [1, 2, 3].map(() => turns.take(tenant, oneAhead(create(1).items)));
  for (const one of begun) expect((await one.next()).value).toBe(1);
  await settled();
  await expect(turns.take(tenant, oneAhead(create(1).items)).next()).rejects.toMatchObject({
    code: 'RATE_LIMITED',
  });
  expect((await begun[0]?.next())?.done).toBe(true);
  expect((await turns.take(tenant, oneAhead(create(1).items)).next()).value).toBe(1);
});
