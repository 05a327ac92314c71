/** What a process remembers of a database goes with that database. */
import { webcrypto } from 'node:crypto';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it } from 'vitest';
import type { Beat, HeadVerdict, OutsideStore } from '../ports/fence.ts';
import { Fence } from './fence.ts';

const did = 'did:web:svc.example';

/** A fence in memory, and a lineage that says what it is told to. */
const createFence = () => {
  let head: { text: string; tag: string } | null = null;
  let says: Pick<Beat, 'verdict' | 'epoch'> = { verdict: 'next', epoch: 0 };
  let seq = 0;
  const outside: OutsideStore = {
    find: async () => head,
    put: async (_, text) => {
      seq += 1;
      head = { text, tag: String(seq) };
      return true;
    },
    list: async () => [],
  };
  const lineage = {
    beat: async (): Promise<Beat> => ({ ...says, seq: seq + 1, atMs: 0, ageMs: 0, quarantineMs: 0 }),
    describeNotes: async () => ({ oldestAgeMs: 0, lastSeq: 0 }),
  };
  const deps = {
    store: { lineage },
    random: { bytes: (length: number) => webcrypto.getRandomValues(new Uint8Array(length)) },
    crypto: nativeCrypto,
    identity: { did },
    log: { warn: () => {}, error: () => {} },
  };
  const fence = new Fence(deps as never, { outside, maxAgeMs: 60_000 });
  return {
    fence,
    async roundsWith(verdict: HeadVerdict, epoch: number) {
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
