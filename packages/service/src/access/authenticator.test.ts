import type { DidWeb } from '@svc/protocol';
import { expect, it } from 'vitest';
import { issueApiKey, parseApiKey } from '../api-keys/api-key.ts';
import type { Store } from '../ports/store.ts';
import type { RpCallerRecord } from '../ports/verify-store.ts';
import { Authenticator } from './authenticator.ts';

/** A store whose look-ups stay pending until the test answers them, the oldest first. */
const slowStore = () => {
  const waiting: { readonly keyHash: string; answer(record: RpCallerRecord | null): void }[] = [];
  const findRpCaller = (keyHash: string) =>
    new Promise<RpCallerRecord | null>((answer) => void waiting.push({ keyHash, answer }));
  const findByHashes = async (keyHashes: readonly string[]) =>
    keyHashes.map((keyHash) => ({ keyHash, role: 'rp', revokedAtMs: null }));
  const store = { verify: { findRpCaller }, apiKeys: { findByHashes } } as unknown as Store;
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, resync: async () => {} };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  const authenticator = new Authenticator(store, clock, { adminToken: null, provisionKeys: [] });
  return { authenticator, waiting, pass };
};

const RP = 'did:web:shop.example' as DidWeb;

const recordOf = (keyHash: string, name: string, revokedAtMs: number | null = null) =>
  ({
    key: { keyHash, keyId: 'id', revokedAtMs },
    relyingParty: { did: RP, name },
    entitlement: null,
  }) as RpCallerRecord;

it('calls of readAgain during a look-up share the next look-up, and not the one under way', async () => {
  const { authenticator, waiting } = slowStore();
  const first = authenticator.readAgain('a');
  const later = [authenticator.readAgain('a'), authenticator.readAgain('a'), authenticator.readAgain('b')];
  expect(waiting.map(({ keyHash }) => keyHash)).toEqual(['a']);
  waiting.shift()?.answer(recordOf('a', 'before'));
  expect((await first)?.relyingParty.name).toBe('before');
  expect(waiting.map(({ keyHash }) => keyHash)).toEqual(['a', 'b']);
  waiting[0]?.answer(recordOf('a', 'after'));
  waiting[1]?.answer(recordOf('b', 'other'));
  const names = (await Promise.all(later)).map((caller) => caller?.relyingParty.name);
  expect(names).toEqual(['after', 'after', 'other']);
});

it('readAgain returns null for a key that is absent or revoked', async () => {
  const { authenticator, waiting } = slowStore();
  for (const record of [null, recordOf('a', '', 5)]) {
    const read = authenticator.readAgain('a');
    waiting.shift()?.answer(record);
    expect(await read).toBeNull();
  }
});

/**
 * Issues a key and returns a function that authenticates with it and returns the name of the caller. `answered`: the
 * name that the look-up finds; null when the call waits for no look-up.
 */
const bearer = async ({ authenticator, waiting }: ReturnType<typeof slowStore>) => {
  const apiKeys = { findById: async () => null, insert: async () => ({}) };
  const random = { bytes: (length: number) => new Uint8Array(length) };
  const { value } = await issueApiKey({ apiKeys } as unknown as Parameters<typeof issueApiKey>[0], random, {
    role: 'rp',
    subject: RP,
    label: null,
  });
  const keyHash = parseApiKey(value)?.keyHash ?? '';
  const nameOf = async (answered: string | null) => {
    const caller = authenticator.authenticate(value, { mayBeRemembered: true });
    for (let i = 0; i < 100 && answered !== null && waiting.length === 0; i++) await Promise.resolve();
    if (answered !== null) waiting.shift()?.answer(recordOf(keyHash, answered));
    const known = await caller;
    return known?.class === 'rp' ? known.relyingParty.name : null;
  };
  return { keyHash, nameOf };
};

it('a relying party that has changed is looked up again, and the result of an earlier look-up is not remembered', async () => {
  const slow = slowStore();
  const { authenticator, waiting } = slow;
  const { keyHash, nameOf } = await bearer(slow);
  expect(await nameOf('first')).toBe('first');
  expect(await nameOf(null)).toBe('first');
  const underWay = authenticator.readAgain(keyHash);
  authenticator.forget(RP);
  waiting.shift()?.answer(recordOf(keyHash, 'from before'));
  await underWay;
  expect(await nameOf('changed')).toBe('changed');
  expect(await nameOf(null)).toBe('changed');
});

it('a key in use is read again beside its calls, one read at a time; after 1.5 s without a result, calls wait for it', async () => {
  const slow = slowStore();
  const { waiting, pass } = slow;
  const { keyHash, nameOf } = await bearer(slow);
  expect(await nameOf('first')).toBe('first');
  pass(600);
  expect(await nameOf(null)).toBe('first');
  expect(waiting).toHaveLength(0);
  pass(600);
  expect([await nameOf(null), await nameOf(null)]).toEqual(['first', 'first']);
  expect(waiting).toHaveLength(1);
  waiting.shift()?.answer(recordOf(keyHash, 'second'));
  await new Promise(setImmediate);
  expect(await nameOf(null)).toBe('second');
  expect(waiting).toHaveLength(0);
  // 1.5 s after the look-up that found it began.
  pass(1_500);
  expect(await nameOf('third')).toBe('third');
  pass(-10_000);
  expect(await nameOf('by an earlier clock')).toBe('by an earlier clock');
});

it('a key that a read beside a call finds revoked is forgotten, and the next call asks storage', async () => {
  const slow = slowStore();
  const { waiting, pass } = slow;
  const { keyHash, nameOf } = await bearer(slow);
  expect(await nameOf('first')).toBe('first');
  pass(1_000);
  expect(await nameOf(null)).toBe('first');
  waiting.shift()?.answer(recordOf(keyHash, '', 5));
  await new Promise(setImmediate);
  expect(await nameOf('asked')).toBe('asked');
});
