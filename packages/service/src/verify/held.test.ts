/** A process that gets a hold while it decides answers none of the decisions that it has stored meanwhile. */
import { readFileSync } from 'node:fs';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it } from 'vitest';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { Holds } from '../lib/holds.ts';
import { Verifier } from './verify.ts';

const caller = {
  class: 'rp',
  subject: 'did:web:shop.example',
  keyId: 'key',
  key: { keyHash: new Uint8Array(32) },
  relyingParty: { orgId: null, profile: 'svc-base-v1' },
} as unknown as RpCaller;
const action = { type: 'purchase.create', resource: 'r' };
const idempotency = { key: 'k', bodyHash: 'h' };
const vector = new URL('../../../../vectors/evaluate/allow-purchase.json', import.meta.url);
const jws: string = JSON.parse(readFileSync(vector, 'utf8')).expected.receipt;

/** Verifies a request that is stored already. `meanwhile` runs while it is confirmed that the Receipt is durable. */
const verify = (meanwhile: (holds: Holds) => void) => {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const holds = new Holds(log);
  const store = {
    verify: {
      findIdempotent: async () => ({ bodyHash: 'h', receipt: { receiptId: 'drc_1', jws } }),
      confirmStored: async () => meanwhile(holds),
    },
  };
  const deps = { holds, log, crypto: nativeCrypto, store: { ...store, as: () => store } };
  const verifier = new Verifier(deps as unknown as ServiceDeps, { readAgain: async () => caller });
  return verifier.verify(caller, { grant: 'g', proof: 'p', action }, idempotency);
};

it('a stored ALLOW is refused with SERVICE_UNAVAILABLE once the fence or the clock holds the process', async () => {
  expect(await verify(() => {})).toMatchObject({ decision: 'ALLOW', replayed: true });
  const isOver = { reason: 'the database was replaced', isOfAll: true };
  for (const hold of [
    (holds: Holds) => holds.watch('fence', () => isOver),
    (holds: Holds) => holds.set('clock', 'it has stepped'),
  ])
    await expect(verify(hold)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
