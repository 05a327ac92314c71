import { type ObjectStore, ObjectStoreError, type Tenant } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { onAccountOf, type Pace, pacedStore } from './paced-store.ts';

const refuse = () => Promise.reject(new ObjectStoreError('refused', 'not asked for here'));
const NONE: ObjectStore = {
  ...{ put: refuse, get: refuse, getRange: refuse, head: refuse, list: refuse, delete: refuse },
};
const RANGE = { offset: 0, length: 1, sha256: '' };

/** A thread whose time passes only where something is decoded or waited for; what happened on it, in order. */
const createThread = () => {
  const log: string[] = [];
  let nowMs = 0;
  const pace: Pace = {
    nowMs: () => nowMs,
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    pause: async (ms) => {
      log.push(`left alone for ${ms}`);
      nowMs += ms;
    },
  };
  const decode = (what: string, ms: number) => {
    log.push(`${what} takes ${ms}`);
    nowMs += ms;
  };
  return { log, pace, decode };
};

it('row groups that are read at once are decoded one by one, and the thread is left alone for as long after each', async () => {
  const { log, pace, decode } = createThread();
  const store = pacedStore({ ...NONE, getRange: async () => new Uint8Array(1) }, pace);
  const read = async (what: string, ms: number) => {
    await store.getRange('x', RANGE);
    decode(what, ms);
  };
  await Promise.all([read('a', 20), read('b', 3), read('c', 7)]);
  await read('d', 5);
  expect(log).toEqual([
    ...['a takes 20', 'left alone for 20', 'b takes 3', 'left alone for 3'],
    ...['c takes 7', 'left alone for 7', 'd takes 5'],
  ]);
});

it('what else takes the thread is done once for all who want it, and paced as row groups are', async () => {
  const { log, pace, decode } = createThread();
  const store = pacedStore({ ...NONE, getRange: async () => new Uint8Array(1) }, pace);
  const work = () => {
    decode('manifest', 30);
    return 'believed';
  };
  const read = async () => {
    await store.getRange('x', RANGE);
    decode('group', 5);
  };
  const answers = await Promise.all([...[1, 2, 3].map(() => store.inTurn('a', work)), read()]);
  expect(answers.slice(0, 3)).toEqual(['believed', 'believed', 'believed']);
  const fail = () => {
    throw new Error('not believed');
  };
  await expect(store.inTurn('a', fail)).rejects.toThrow('not believed');
  expect(await store.inTurn('a', work)).toBe('believed');
  expect(log.filter((line) => line === 'manifest takes 30')).toHaveLength(2);
  for (const [i, line] of log.slice(0, 3).entries())
    if (line.includes(' takes ')) expect(log[i + 1]).toBe(`left alone for ${line.split(' ').at(-1)}`);
});

it('one that fails, or for which nobody waits any more, keeps nobody from the turn', async () => {
  const { log, pace, decode } = createThread();
  let reads = 0;
  const getRange = () => (reads++ === 0 ? refuse() : Promise.resolve(new Uint8Array(1)));
  const store = pacedStore({ ...NONE, getRange }, pace);
  await expect(store.getRange('x', RANGE)).rejects.toThrow('not asked for here');
  await expect(store.getRange('x', RANGE, AbortSignal.abort(new Error('too late')))).rejects.toThrow(
    'too late',
  );
  await store.getRange('x', RANGE);
  decode('a', 4);
  expect(log.at(-1)).toBe('a takes 4');
});

it('eight are fetched and wait to be decoded at most, and who comes behind a thousand that wait is refused', async () => {
  let fetched = 0;
  let open = () => {};
  const free = new Promise<void>((resolve) => {
    open = resolve;
  });
  const getRange = async () => {
    fetched += 1;
    await free;
    return new Uint8Array(1);
  };
  const store = pacedStore({ ...NONE, getRange }, createThread().pace);
  const reads = Array.from({ length: 1_008 }, () => store.getRange('x', RANGE));
  await expect(store.getRange('x', RANGE)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(fetched).toBe(8);
  open();
  await Promise.all(reads);
  expect(fetched).toBe(1_008);
});

it('of a tenant beside five hundred reads of the public the first comes after those that are fetched already', async () => {
  const order: string[] = [];
  const store = pacedStore({ ...NONE, getRange: async () => new Uint8Array(1) }, createThread().pace);
  const read = (tenant: Tenant) =>
    onAccountOf(tenant, async () => {
      await store.getRange('x', RANGE);
      order.push(tenant.crowd);
    });
  const flood = Array.from({ length: 500 }, (_, i) =>
    read({ crowd: 'public', org: `10.0.${i % 50}.1`, subject: '' }),
  );
  const own = read({ crowd: 'tenants', org: 'shop', subject: 'did:web:shop.example' });
  await Promise.all([...flood, own]);
  expect(order.indexOf('tenants')).toBeLessThanOrEqual(9);
});

describe('a range that many ask for at once', () => {
  const publicly = (i: number): Tenant => ({ crowd: 'public', org: `10.0.${i}.1`, subject: '' });
  const SHOP: Tenant = { crowd: 'tenants', org: 'shop', subject: 'did:web:shop.example' };
  /** Nothing of it comes before `open`. */
  const createClosed = (answer = async () => new Uint8Array(1)) => {
    const fetched: string[] = [];
    let open = () => {};
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const getRange = async (name: string) => {
      fetched.push(name);
      await isOpen;
      return answer();
    };
    const store = pacedStore({ ...NONE, getRange }, createThread().pace);
    const reads = (names: string, from: number, count: number) =>
      Array.from({ length: count }, (_, i) =>
        onAccountOf(publicly(from + i), () => store.getRange(names, RANGE)),
      );
    return { fetched, store, reads, open: () => open() };
  };

  it('is fetched once for all of them, in the first turn that comes to any of them', async () => {
    const { fetched, store, reads, open } = createClosed();
    const flood = reads('x', 0, 200);
    const first = onAccountOf(publicly(200), () => store.shared.getRange('tail', RANGE));
    const own = onAccountOf(SHOP, () => store.shared.getRange('tail', RANGE));
    open();
    await Promise.all([...flood, first, own]);
    expect(fetched.indexOf('tail')).toBeLessThanOrEqual(9);
    expect(fetched.filter((name) => name === 'tail')).toHaveLength(1);
    await store.shared.getRange('tail', RANGE);
    expect(fetched.filter((name) => name === 'tail')).toHaveLength(2);
  });

  it('is refused to those for whom there is no place in line, and to nobody else', async () => {
    const { store, reads, open } = createClosed();
    const flood = reads('x', 0, 508);
    const refused = onAccountOf(publicly(600), () => store.shared.getRange('tail', RANGE));
    const own = onAccountOf(SHOP, () => store.shared.getRange('tail', RANGE));
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable' });
    open();
    expect(await own).toEqual(new Uint8Array(1));
    await Promise.all(flood);
  });

  it.each([
    ['is in line', 8],
    ['is fetched', 0],
  ])('comes to the others where one of them gives up while it %s', async (_, others) => {
    const { fetched, store, reads, open } = createClosed();
    const flood = reads('x', 0, others);
    const leaving = new AbortController();
    const left = store.shared.getRange('tail', RANGE, leaving.signal);
    const staying = store.shared.getRange('tail', RANGE);
    expect(fetched.includes('tail')).toBe(others === 0);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    open();
    expect(await staying).toEqual(new Uint8Array(1));
    await Promise.all(flood);
  });

  it('is fetched anew after it has failed', async () => {
    let reads = 0;
    const { store, open } = createClosed(() =>
      reads++ === 0 ? refuse() : Promise.resolve(new Uint8Array(1)),
    );
    open();
    const failed = await Promise.allSettled([1, 2].map(() => store.shared.getRange('tail', RANGE)));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await store.shared.getRange('tail', RANGE)).toEqual(new Uint8Array(1));
    expect(reads).toBe(2);
  });
});
