/** A caller with a revoked API key gets no Receipt, not even that of another request with the same idempotency key. */
import { readFileSync } from 'node:fs';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it } from 'vitest';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { Holds } from '../lib/holds.ts';
import { Verifier } from './verify.ts';

const did = 'did:web:shop.example';
const caller = {
  ...{ class: 'rp', subject: did, keyId: 'key', key: { keyHash: new Uint8Array(32), keyId: 'key' } },
  relyingParty: {
    ...{ did, orgId: null, claimExpiresAtMs: null, profile: 'svc-base-v2' },
    ...{ proofWindowSeconds: 60, version: 1 },
  },
} as unknown as RpCaller;
const vector = new URL('../../../../vectors/evaluate/allow-purchase.json', import.meta.url);
const jws: string = JSON.parse(readFileSync(vector, 'utf8')).expected.receipt;

/**
 * Verifies a request whose idempotency key another request takes meanwhile. `live`: the caller that its API key has
 * then.
 */
const verify = (live: RpCaller | null) => {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  let isTaken = false;
  const store = {
    verify: {
      findIdempotent: async () => (isTaken ? { bodyHash: 'h', receipt: { receiptId: 'drc_1', jws } } : null),
      confirmStored: async () => {},
      commitDecisions: async () => {
        isTaken = true;
        return ['IDEMPOTENCY_TAKEN'];
      },
    },
  };
  const signer = { kid: 'did:web:svc.example#receipt-1', sign: () => new Uint8Array(64) };
  const deps = {
    ...{ holds: new Holds(log), log, crypto: nativeCrypto, store: { ...store, as: () => store } },
    ...{ clock: { nowMs: Date.now }, random: { bytes: (length: number) => new Uint8Array(length) } },
    ...{ identity: { receiptKeys: { signer } }, entitlements: {} },
  } as unknown as ServiceDeps;
  const idempotency = { key: 'k', bodyHash: 'h' };
  return new Verifier(deps, { readAgain: async () => live }).verify(
    caller,
    { grant: 'g', proof: 'p', action: {} },
    idempotency,
  );
};

it('a request whose idempotency key was taken meanwhile gets the stored answer if its API key is live, else 401', async () => {
  expect(await verify(caller)).toMatchObject({ receiptId: 'drc_1', replayed: true });
  await expect(verify(null)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});
