/** What a process remembers of a database goes with that database. */
import { webcrypto } from 'node:crypto';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it, vi } from 'vitest';
import type { Beat, HeadVerdict, OutsideStore } from '../ports/fence.ts';
import { Fence } from './fence.ts';

// Vitest's clock has no hold over these.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}));

const did = 'did:web:svc.example';

/** A fence in memory, and a lineage that says what it is told to. */
const createFence = ({ beatMs = 0, maxAgeMs = 60_000 } = {}) => {
  let head: { text: string; tag: string } | null = null;
  let says: Pick<Beat, 'verdict' | 'epoch'> = { verdict: 'next', epoch: 0 };
  let seq = 0;
  let server = 'first';
  let standing: string | null = null;
  let puts = 0;
  let beats = 0;
  let takesPuts = true;
  const outside: OutsideStore = {
    find: async () => head,
    put: async (_, text) => {
      puts += 1;
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
    async beat(): Promise<Beat> {
      beats += 1;
      if (beatMs > 0) await new Promise((resolve) => setTimeout(resolve, beatMs));
      return { ...says, server, seq: seq + 1, atMs: 0, ageMs: 0, quarantineMs: 0 };
    },
    describeNotes: async () => ({ oldestAgeMs: 0, lastSeq: 0 }),
  };
  const deps = {
    store: { lineage },
    random: { bytes: (length: number) => webcrypto.getRandomValues(new Uint8Array(length)) },
    crypto: nativeCrypto,
    identity: { did },
    log: { warn: () => {}, error: () => {} },
  };
  const fence = new Fence(deps as never, { outside, maxAgeMs });
  return {
    fence,
    trusted: (one: string) => standing === one,
    /** Whatever is published, another process was first. */
    refusePuts: () => {
      takesPuts = false;
    },
    puts: () => puts,
    beats: () => beats,
    pass: (ms: number) => vi.advanceTimersByTime(ms),
    async roundsWith(verdict: HeadVerdict, epoch: number, by = server) {
      server = by;
      says = { verdict, epoch };
      await fence.round();
      return fence.problem();
    },
  };
};

it('a process under which the database was set back decides no more, also once that is restored: it remembers the former one', async () => {
  const { roundsWith } = createFence();
  expect(await roundsWith('next', 0)).toBeNull();
  expect((await roundsWith('behind', 0))?.reason).toContain('svc-admin restore');
  for (let round = 0; round < 3; round++)
    expect(await roundsWith('next', 1)).toMatchObject({
      ...{ kind: 'behind', isOfAll: true },
      reason: expect.stringContaining('start it anew'),
    });
});

it('one that slept through the whole restore tells by its number', async () => {
  const { roundsWith } = createFence();
  expect(await roundsWith('next', 3)).toBeNull();
  expect((await roundsWith('known', 4))?.reason).toContain('start it anew');
});

it('one that began on the set back database remembers nothing, and goes on once it is restored', async () => {
  const { roundsWith } = createFence();
  expect((await roundsWith('behind', 0))?.kind).toBe('behind');
  expect(await roundsWith('next', 1)).toBeNull();
  expect((await roundsWith('gone', 1))?.kind).toBe('behind');
  expect(await roundsWith('next', 1)).toBeNull();
});

it('a server from which another one took over, and which wakes, is refused, and no restart is asked for once that other one is met', async () => {
  const { roundsWith, trusted } = createFence();
  expect(await roundsWith('next', 0, 'first')).toBeNull();
  expect((await roundsWith('behind', 0, 'first'))?.isOfAll).toBe(true);
  expect(trusted('first')).toBe(false);
  expect(await roundsWith('next', 0, 'second')).toBeNull();
  expect([trusted('first'), trusted('second')]).toEqual([false, true]);
});

it('a server that was silent for longer than it takes to replace it is looked at for some seconds before it decides again', async () => {
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

it('a store that lets nobody publish is asked a few times in a round, not without end, and nothing is confirmed by it', async () => {
  const { roundsWith, refusePuts, puts } = createFence();
  refusePuts();
  expect(await roundsWith('next', 0)).toMatchObject({ kind: 'stale', isOfAll: true });
  expect(puts()).toBe(3);
});

it('a server that is slow is asked only half of the time, and the head that it confirms is young enough all the same', async () => {
  vi.useFakeTimers();
  const beatMs = 600;
  const { fence, beats } = createFence({ beatMs, maxAgeMs: 3_000 });
  const started = fence.start();
  await vi.advanceTimersByTimeAsync(beatMs);
  await started;
  for (let passedMs = 0; passedMs < 60_000; passedMs += 100) {
    await vi.advanceTimersByTimeAsync(100);
    expect(fence.problem()).toBeNull();
  }
  expect(beats() * beatMs).toBeLessThan(35_000);
  const stopped = fence.stop();
  await vi.advanceTimersByTimeAsync(2 * beatMs);
  await stopped;
  vi.useRealTimers();
});
