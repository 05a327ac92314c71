import type { ReadElsewhere, ReadGroup } from '@svc/cold-ledger';
import { type ObjectStore, ObjectStoreError, type Tenant } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { onAccountOf, type Pace, type ReadQueue, readQueue } from './read-queue.ts';

const refuse = () => Promise.reject(new ObjectStoreError('refused', 'not asked for here'));
const RANGE = { offset: 0, length: 1, sha256: '' };
const NONE = new Uint8Array(1);
const GROUP = { byteLength: 1, tail: NONE, tailSha256: '', offset: 0, firstRow: 0, rows: 0 };
const ALL = {
  columns: [],
  jws: 'whole' as const,
  texts: null,
  where: [],
  from: '',
  after: '',
  before: '',
  most: null,
  isDescending: false,
};
const FOUND = { count: 0, columns: {}, texts: null, last: null };

const SEALED = { open: () => FOUND };
const readAtOnce: ReadElsewhere = async () => SEALED;
const readFrom = (queue: ReadQueue, name = 'x', stop?: AbortSignal) =>
  queue.readGroup({ name, ...GROUP }, RANGE, ALL, stop);

/** A thread whose time passes only through work or waiting; records what happened on it, in order. */
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
  const take = (what: string, ms: number) => {
    log.push(`${what} takes ${ms}`);
    nowMs += ms;
  };
  return { log, pace, take };
};

const queueOf = (getRange: ObjectStore['getRange'], read = readAtOnce): ReadQueue =>
  readQueue({ getRange }, read, createThread().pace);

it('inTurn runs work once for all its callers, one piece after another, with a pause as long as each piece', async () => {
  const { log, pace, take } = createThread();
  const queue = readQueue({ getRange: async () => NONE }, readAtOnce, pace);
  const work = (what: string, ms: number) => () => {
    take(what, ms);
    return what;
  };
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => queue.inTurn('a', work('a', 30))),
    queue.inTurn('b', work('b', 5)),
  ]);
  expect(answers).toEqual(['a', 'a', 'a', 'b']);
  const fail = () => {
    throw new Error('not believed');
  };
  await expect(queue.inTurn('a', fail)).rejects.toThrow('not believed');
  expect(await queue.inTurn('a', work('a', 3))).toBe('a');
  expect(log.slice(0, 4)).toEqual(['a takes 30', 'left alone for 30', 'b takes 5', 'left alone for 5']);
  expect(log.at(-1)).toBe('a takes 3');
});

it('results decoded elsewhere are opened one by one with an equal pause after each, and at most two decode at once', async () => {
  const { log, pace, take } = createThread();
  let [decoding, most] = [0, 0];
  const read: ReadElsewhere = async ({ name }) => {
    decoding += 1;
    most = Math.max(most, decoding);
    await new Promise(setImmediate);
    const open = () => {
      decoding -= 1;
      take(name, 7);
      return FOUND;
    };
    return { open };
  };
  const queue = readQueue({ getRange: async () => NONE }, read, pace);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => readFrom(queue, name)));
  expect(most).toBe(2);
  expect(log.filter((line) => line.includes('takes'))).toHaveLength(5);
  for (const [i, line] of log.slice(0, -1).entries())
    if (line.includes('takes')) expect(log[i + 1]).toBe('left alone for 7');
});

it('a Receipt looked up by its id is decoded in this thread, one at a time, each followed by an equal pause', async () => {
  const { log, pace, take } = createThread();
  const readHere: ReadGroup = async ({ name }) => {
    take(name, 4);
    return FOUND;
  };
  const elsewhere: ReadElsewhere = () => Promise.reject(new Error('handed over'));
  const queue = readQueue({ getRange: async () => NONE }, elsewhere, pace, readHere);
  const wanted = (...oneOf: string[]) => ({ ...ALL, where: [{ column: 'receipt_id', oneOf }] });
  const lookUp = (name: string) => queue.readGroup({ name, ...GROUP }, RANGE, wanted('drc_1'));
  await Promise.all(['a', 'b', 'c'].map(lookUp));
  expect(log.slice(0, 4)).toEqual(['a takes 4', 'left alone for 4', 'b takes 4', 'left alone for 4']);
  const several = queue.readGroup({ name: 'd', ...GROUP }, RANGE, wanted('drc_1', 'drc_2'));
  await expect(several).rejects.toThrow('handed over');
});

it('a caller that gives up during decoding is rejected at once, and its read keeps its place until it is done', async () => {
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let asked = 0;
  const queue = queueOf(
    async () => NONE,
    async () => {
      asked += 1;
      await done;
      return SEALED;
    },
  );
  const leaving = new AbortController();
  const reads = [1, 2].map(() => readFrom(queue, 'x', leaving.signal));
  const behind = readFrom(queue, 'y');
  await new Promise(setImmediate);
  leaving.abort(new Error('too late'));
  for (const one of reads) await expect(one).rejects.toThrow('too late');
  expect(asked).toBe(2);
  finish();
  expect(await behind).toBe(FOUND);
  expect(asked).toBe(3);
});

it('a read that fails or has no caller left does not block the queue, and is not decoded', async () => {
  const decoded: string[] = [];
  const leaving = new AbortController();
  const getRange: ObjectStore['getRange'] = async (name) => {
    if (name === 'absent') return refuse();
    if (name === 'late') leaving.abort(new Error('too late'));
    return NONE;
  };
  const queue = queueOf(getRange, async ({ name }) => {
    decoded.push(name);
    return SEALED;
  });
  for (let i = 0; i < 10; i++) {
    await expect(readFrom(queue, 'absent')).rejects.toThrow('not asked for here');
    await expect(readFrom(queue, 'late', leaving.signal)).rejects.toThrow('too late');
  }
  expect(await readFrom(queue, 'x')).toBe(FOUND);
  expect(decoded).toEqual(['x']);
});

it('at most eight fetched groups wait for decoding, and a read behind a thousand waiting ones is refused', async () => {
  let fetched = 0;
  let open = () => {};
  const free = new Promise<void>((resolve) => {
    open = resolve;
  });
  const getRange = async () => {
    fetched += 1;
    return NONE;
  };
  const queue = queueOf(getRange, () => free.then(() => SEALED));
  const reads = Array.from({ length: 1_008 }, () => readFrom(queue));
  await expect(readFrom(queue)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(fetched).toBe(8);
  open();
  await Promise.all(reads);
  expect(fetched).toBe(1_008);
});

it('the first read of a tenant comes before 500 waiting public reads, after those that are already fetched', async () => {
  const order: string[] = [];
  const queue = queueOf(async () => NONE);
  const read = (tenant: Tenant) =>
    onAccountOf(tenant, async () => {
      await readFrom(queue);
      order.push(tenant.crowd);
    });
  const flood = Array.from({ length: 500 }, (_, i) =>
    read({ crowd: 'public', org: `10.0.${i % 50}.1`, subject: '' }),
  );
  const own = read({ crowd: 'tenants', org: 'shop', subject: 'did:web:shop.example' });
  await Promise.all([...flood, own]);
  expect(order.indexOf('tenants')).toBeLessThanOrEqual(9);
});

describe('the tail of an object with many concurrent callers', () => {
  const publicly = (i: number): Tenant => ({ crowd: 'public', org: `10.0.${i}.1`, subject: '' });
  const SHOP: Tenant = { crowd: 'tenants', org: 'shop', subject: 'did:web:shop.example' };
  /** No read is answered before `open`. */
  const createClosed = (answer = async () => NONE) => {
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
    const queue = queueOf(getRange);
    const reads = (names: string, from: number, count: number) =>
      Array.from({ length: count }, (_, i) => onAccountOf(publicly(from + i), () => readFrom(queue, names)));
    return { fetched, queue, reads, open: () => open() };
  };

  it('is fetched once for all of them, in the first turn of any of them', async () => {
    const { fetched, queue, reads, open } = createClosed();
    const flood = reads('x', 0, 200);
    const first = onAccountOf(publicly(200), () => queue.readTail('tail', RANGE));
    const own = onAccountOf(SHOP, () => queue.readTail('tail', RANGE));
    open();
    await Promise.all([...flood, first, own]);
    expect(fetched.indexOf('tail')).toBeLessThanOrEqual(9);
    expect(fetched.filter((name) => name === 'tail')).toHaveLength(1);
    await queue.readTail('tail', RANGE);
    expect(fetched.filter((name) => name === 'tail')).toHaveLength(2);
  });

  it('is refused to callers without a place in the queue, and to no others', async () => {
    const { queue, reads, open } = createClosed();
    const flood = reads('x', 0, 508);
    const refused = onAccountOf(publicly(600), () => queue.readTail('tail', RANGE));
    const own = onAccountOf(SHOP, () => queue.readTail('tail', RANGE));
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable' });
    open();
    expect(await own).toBe(NONE);
    await Promise.all(flood);
  });

  it.each([
    ['waits in the queue', 8],
    ['is being fetched', 0],
  ])('is answered to the other callers if one gives up while it %s', async (_, others) => {
    const { fetched, queue, reads, open } = createClosed();
    const flood = reads('x', 0, others);
    const leaving = new AbortController();
    const left = queue.readTail('tail', RANGE, leaving.signal);
    const staying = queue.readTail('tail', RANGE);
    expect(fetched.includes('tail')).toBe(others === 0);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    open();
    expect(await staying).toBe(NONE);
    await Promise.all(flood);
  });

  it('is fetched again after a failure', async () => {
    let reads = 0;
    const { queue, open } = createClosed(() => (reads++ === 0 ? refuse() : Promise.resolve(NONE)));
    open();
    const failed = await Promise.allSettled([1, 2].map(() => queue.readTail('tail', RANGE)));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await queue.readTail('tail', RANGE)).toBe(NONE);
    expect(reads).toBe(2);
  });
});
