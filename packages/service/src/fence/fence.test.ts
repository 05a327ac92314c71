/** A process must not use what it cached of one database with another. */
import { webcrypto } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it, vi } from 'vitest';
import type { Beat, FenceStore, HeadVerdict } from '../ports/fence.ts';
import { Fence, pauseAfter } from './fence.ts';

const did = 'did:web:svc.example';

/** A fence in memory, and a lineage with settable answers. */
const createFence = () => {
  let head: { text: string; tag: string } | null = null;
  let says: Pick<Beat, 'verdict' | 'epoch'> = { verdict: 'next', epoch: 0 };
  let seq = 0;
  let server = 'first';
  let standing: string | null = null;
  let meet = () => {};
  let heard = () => {};
  let puts = 0;
  let takesPuts = true;
  let held: Promise<void> = Promise.resolve();
  let copies = 0;
  let quarantineMs = 0;
  let isDatabaseAway = false;
  let isStoreAway = false;
  let noteAgeMs = 0;
  const logged: string[] = [];
  const log = (event: string, { fence }: { fence?: string }) =>
    void logged.push(fence === undefined ? event : `${event} ${fence}`);
  const fenceStore: FenceStore = {
    atOnce: 1,
    find: async () => {
      if (isStoreAway) throw new Error('the bucket does not answer');
      return head;
    },
    put: async (_, text) => {
      puts += 1;
      await held;
      if (!takesPuts) return false;
      seq += 1;
      head = { text, tag: String(seq) };
      return true;
    },
    list: async () => [],
  };
  const lineage = {
    trust: (one: string) => {
      standing = one;
    },
    doubt: (one: string) => {
      if (standing === one) standing = null;
    },
    onUnknown: (ask: () => void) => {
      meet = ask;
    },
    beat: async (): Promise<Beat> => {
      heard();
      if (isDatabaseAway) throw new Error('the connection ended');
      return { ...says, server, seq: seq + 1, atMs: 0, ageMs: 0, quarantineMs };
    },
    describeNotes: async () => {
      if (isDatabaseAway) throw new Error('the connection ended');
      return { oldestAgeMs: noteAgeMs, lastSeq: 1 };
    },
    listNotes: async () => {
      copies += 1;
      return [];
    },
  };
  const deps = {
    store: { lineage },
    random: { bytes: (length: number) => webcrypto.getRandomValues(new Uint8Array(length)) },
    crypto: nativeCrypto,
    identity: { did },
    log: { warn: log, error: log },
  };
  const fence = new Fence(deps as never, { fenceStore, maxAgeMs: 60_000 });
  return {
    fence,
    trusted: (one: string) => standing === one,
    /** From now on every publication fails, as if another process were first. */
    refusePuts: () => {
      takesPuts = false;
    },
    puts: () => puts,
    /** How often changes were listed to be copied. */
    copies: () => copies,
    /** Publications from now on wait until the returned function is called. */
    holdPuts: () => {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        held = Promise.resolve();
        release();
      };
    },
    /** Opens a session with an unknown server. */
    meet: () => meet(),
    nextBeat: () =>
      new Promise<string>((resolve) => {
        heard = () => resolve('a beat');
      }),
    pass: (ms: number) => vi.advanceTimersByTime(ms),
    /** Events of the log, with the kind of the problem where there is one. */
    logged,
    setDatabaseAway: (isAway: boolean) => {
      isDatabaseAway = isAway;
    },
    /** The store does not answer from now on, and a change has waited for `ageMs`. */
    loseStore: (ageMs: number) => {
      isStoreAway = true;
      noteAgeMs = ageMs;
    },
    setQuarantine: (ms: number) => {
      quarantineMs = ms;
    },
    async roundsWith(verdict: HeadVerdict, epoch: number, by = server) {
      server = by;
      says = { verdict, epoch };
      await fence.round();
      return fence.problem();
    },
  };
};

it('a process under which the database was set back must be restarted, even after the restore', async () => {
  const { roundsWith } = createFence();
  expect(await roundsWith('next', 0)).toBeNull();
  expect((await roundsWith('behind', 0))?.reason).toContain('svc-admin restore');
  for (let round = 0; round < 3; round++)
    expect(await roundsWith('next', 1)).toMatchObject({
      ...{ kind: 'behind', isOfAll: true },
      reason: expect.stringContaining('start it anew'),
    });
});

it('a process that missed a whole restore detects it by the epoch, and must be restarted', async () => {
  const { roundsWith } = createFence();
  expect(await roundsWith('next', 3)).toBeNull();
  expect((await roundsWith('known', 4))?.reason).toContain('start it anew');
});

it('a process that started on a set-back database decides once that is restored, without a restart', async () => {
  const { roundsWith } = createFence();
  expect((await roundsWith('behind', 0))?.kind).toBe('behind');
  expect(await roundsWith('next', 1)).toBeNull();
  expect((await roundsWith('gone', 1))?.kind).toBe('behind');
  expect(await roundsWith('next', 1)).toBeNull();
});

it('a server that wakes after a failover is refused, and decisions continue on the new server without a restart', async () => {
  const { roundsWith, trusted } = createFence();
  expect(await roundsWith('next', 0, 'first')).toBeNull();
  expect((await roundsWith('behind', 0, 'first'))?.isOfAll).toBe(true);
  expect(trusted('first')).toBe(false);
  expect(await roundsWith('next', 0, 'second')).toBeNull();
  expect([trusted('first'), trusted('second')]).toEqual([false, true]);
});

it('a server that was silent for longer than a failover takes is observed for some seconds before it decides again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { roundsWith, pass, trusted } = createFence();
  expect(await roundsWith('next', 0, 'first')).toBeNull();
  pass(9_000);
  expect(await roundsWith('next', 0, 'first')).toBeNull();
  pass(20_000);
  expect((await roundsWith('next', 0, 'first'))?.reason).toContain('another one may have taken over');
  expect(trusted('first')).toBe(false);
  expect(await roundsWith('next', 0, 'second')).toBeNull();
  pass(20_000);
  await roundsWith('next', 0, 'second');
  pass(6_000);
  expect(await roundsWith('next', 0, 'second')).toBeNull();
  vi.useRealTimers();
});

it('a switchover, a silence or a quarantine is logged as a wait, and only a wrong database or fence as a refusal', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const { roundsWith, pass, logged, setDatabaseAway, setQuarantine } = createFence();
    expect(await roundsWith('next', 0)).toBeNull();
    setDatabaseAway(true);
    pass(60_001);
    expect((await roundsWith('next', 0))?.kind).toBe('stale');
    setDatabaseAway(false);
    expect(await roundsWith('next', 0)).toMatchObject({ kind: 'woken', isOfAll: true });
    pass(6_000);
    expect(await roundsWith('next', 0)).toBeNull();
    setQuarantine(1_000);
    expect((await roundsWith('next', 0))?.kind).toBe('quarantine');
    setQuarantine(0);
    expect(await roundsWith('next', 0)).toBeNull();
    expect(logged).toEqual([
      'fence.waits stale',
      'fence.waits woken',
      'fence.confirmed',
      'fence.waits quarantine',
      'fence.confirmed',
    ]);
    logged.length = 0;
    for (const verdict of ['behind', 'diverged', 'forgotten', 'gone'] as const) {
      await roundsWith(verdict, 0);
      await roundsWith('next', 0);
    }
    const refusal = ['fence.refuses behind', 'fence.confirmed'];
    expect(logged).toEqual([...refusal, ...refusal, ...refusal, ...refusal]);
    // The database is restored while this process runs.
    await roundsWith('next', 1);
    expect(logged.at(-1)).toBe('fence.refuses behind');
  } finally {
    vi.useRealTimers();
  }
});

it('a beat that completes after its round was given up does not change which server is trusted', async () => {
  vi.useFakeTimers();
  try {
    const { fence, roundsWith, trusted, holdPuts } = createFence();
    expect(await roundsWith('next', 0, 'first')).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    const answerLate = holdPuts();
    const late = roundsWith('next', 0, 'first');
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await late)?.kind).toBe('stale');
    const answerNow = holdPuts();
    answerNow();
    expect(await roundsWith('next', 0, 'second')).toBeNull();
    answerLate();
    await vi.advanceTimersByTimeAsync(0);
    expect([trusted('first'), trusted('second')]).toEqual([false, true]);
    expect(fence.problem()).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

it('changes are copied out even if the round of their beat was given up', async () => {
  vi.useFakeTimers();
  try {
    const { roundsWith, holdPuts, copies } = createFence();
    const answerLate = holdPuts();
    const late = roundsWith('next', 0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([(await late)?.kind, copies()]).toEqual(['stale', 0]);
    answerLate();
    await vi.advanceTimersByTimeAsync(0);
    expect(copies()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

it('while the storage of the fence is away, the age of the oldest uncopied change and the cause are reported', async () => {
  const { fence, roundsWith, loseStore, copies, setDatabaseAway } = createFence();
  await roundsWith('next', 0);
  expect(fence.describeUnkept()).toBeNull();
  loseStore(61_000);
  await roundsWith('next', 0);
  setDatabaseAway(true);
  await roundsWith('next', 0);
  await fence.stop();
  expect(fence.unkeptForMs()).toBeGreaterThanOrEqual(61_000);
  expect(fence.describeUnkept()).toMatch(/ 6[1-9] s ago is not copied .*: the bucket does not answer$/);
  expect(copies()).toBe(1);
});

it('a fence store that refuses every put is tried three times in a round, and nothing is confirmed', async () => {
  const { roundsWith, refusePuts, puts } = createFence();
  refusePuts();
  expect(await roundsWith('next', 0)).toMatchObject({ kind: 'stale', isOfAll: true });
  expect(puts()).toBe(3);
});

it('an unknown server is checked at once, and at most twenty times a second', async () => {
  // With this fake clock a look takes no time, however busy the machine is. A long look would be followed by a long
  // pause.
  vi.useFakeTimers({ toFake: ['performance'] });
  const { fence, meet, nextBeat } = createFence();
  await fence.start();
  try {
    const startedMs = Date.now();
    for (let beats = 0; beats < 5; beats++) {
      meet();
      // Timers fire in the order of their times, however busy the machine is.
      expect(await Promise.race([nextBeat(), delay(200, 'no beat')])).toBe('a beat');
    }
    expect(Date.now() - startedMs).toBeGreaterThan(4 * 49);
  } finally {
    await fence.stop();
    vi.useRealTimers();
  }
});

it('a round is followed by a pause of its length, two rounds fit into the maximum age, and a failed one is repeated soon', () => {
  const maxAgeMs = 3_000;
  for (const tookMs of [0, 10, 250, 400, 600, 700]) {
    const { pauseMs, leastMs } = pauseAfter({ tookMs, isConfirmed: true, maxAgeMs });
    expect(pauseMs).toBeGreaterThanOrEqual(Math.max(250, tookMs));
    // This holds also where a round is requested.
    expect(leastMs).toBeGreaterThanOrEqual(Math.max(50, tookMs));
    // The time from the request of one round to the answer of the next.
    expect(tookMs + pauseMs + tookMs).toBeLessThan(maxAgeMs);
    expect(pauseAfter({ tookMs, isConfirmed: false, maxAgeMs })).toEqual({ pauseMs: 250, leastMs: 50 });
  }
});
