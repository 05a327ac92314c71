import { expect, it } from 'vitest';
import type { Store } from '../ports/store.ts';
import type { RpCallerRecord } from '../ports/verify-store.ts';
import { Authenticator } from './authenticator.ts';

const clock = { nowMs: () => 0, resync: async () => {} };

/** A store whose look-ups wait to be answered, the oldest first. */
const slowStore = () => {
  const waiting: { readonly keyHash: string; answer(record: RpCallerRecord | null): void }[] = [];
  const findRpCaller = (keyHash: string) =>
    new Promise<RpCallerRecord | null>((answer) => void waiting.push({ keyHash, answer }));
  const store = { verify: { findRpCaller } } as unknown as Store;
  const authenticator = new Authenticator(store, clock, { adminToken: null, provisionKeys: [] });
  return { authenticator, waiting };
};

const recordOf = (keyHash: string, name: string, revokedAtMs: number | null = null) =>
  ({
    key: { keyHash, keyId: 'id', revokedAtMs },
    relyingParty: { name },
    entitlement: null,
  }) as RpCallerRecord;

it('those who read again while a look-up is under way share the next one, and none the one under way', async () => {
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

it('a key that is absent or revoked by now reads as nobody', async () => {
  const { authenticator, waiting } = slowStore();
  for (const record of [null, recordOf('a', '', 5)]) {
    const read = authenticator.readAgain('a');
    waiting.shift()?.answer(record);
    expect(await read).toBeNull();
  }
});
