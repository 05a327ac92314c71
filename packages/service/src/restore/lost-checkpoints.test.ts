import { generateKeyPairSync } from 'node:crypto';
import { emptyRoot } from '@svc/merkle';
import type { DidWeb, JsonObject } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { buildCheckpoint, signCheckpoint } from '@svc/transparency';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { type KeySet, parseKeySet } from '../service-keys/key-set.ts';
import { listLostCheckpoints } from './lost-checkpoints.ts';

const DID = 'did:web:svc.example' as DidWeb;
const DAY = '2026-11-20';
const CLOSED_MS = Date.parse('2026-11-21T00:00:05Z');
const keysOf = (purpose: 'receipt' | 'status'): KeySet => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return parseKeySet({ keys: [{ ...jwk, kid: `${purpose}-1` }] }, purpose, DID);
};
const receiptKeys = keysOf('receipt');
const statusKeys = keysOf('status');

/**
 * Lists lost checkpoints with the status keys that a restored database has under the service's present DID. `kept`: the
 * record beside the fence.
 */
const list = (
  published: KeySet['published'],
  kept: JsonObject,
  did = DID,
  { nowMs = CLOSED_MS, retracted = '' } = {},
) => {
  const own = { did: DID, receiptKeys, statusKeys: { ...statusKeys, published } };
  const identity =
    did === DID
      ? { ...own, formers: [] }
      : { did, receiptKeys, statusKeys: keysOf('status'), formers: [own] };
  const store = {
    checkpoints: { find: async () => null },
    restores: { isRetracted: async (hash: string) => hash === retracted },
  };
  const deps = { store, identity, crypto: nativeCrypto, clock: { nowMs: () => nowMs } };
  return listLostCheckpoints(deps as unknown as ServiceDeps, [{ name: DAY, kept }]);
};
const keptCheckpoint = async (signer: KeySet['signer']): Promise<JsonObject> => {
  const checkpoint = buildCheckpoint({
    ...{ serviceDid: DID, day: DAY, treeSize: 0, root: emptyRoot(), previousRoot: null },
    ...{ firstReceiptId: null, lastReceiptId: null, closedAtSeconds: CLOSED_MS / 1000 },
  });
  return { jws: await signCheckpoint(checkpoint, signer), content_root: `sha256:${'0'.repeat(64)}` };
};

it.each([
  ['was published in the lost span', { fromMs: CLOSED_MS + 3_600_000, untilMs: null, isCompromised: false }],
  ['has ended since', { fromMs: null, untilMs: CLOSED_MS - 1_000, isCompromised: false }],
  ['leaked in the lost span', { fromMs: null, untilMs: CLOSED_MS + 1_000, isCompromised: true }],
])('a lost checkpoint is put back even if its key %s, so that the restore can end', async (_, time) => {
  const published = statusKeys.published.map((key) => ({ ...key, time }));
  expect(await list(published, await keptCheckpoint(statusKeys.signer))).toMatchObject({
    lost: [{ day: DAY }],
    ahead: [],
  });
});

it('a checkpoint that was signed under a former DID of the service is put back', async () => {
  const kept = await keptCheckpoint(statusKeys.signer);
  expect(await list(statusKeys.published, kept, 'did:web:new.example' as DidWeb)).toMatchObject({
    lost: [{ day: DAY }],
  });
});

it('a checkpoint that a repair of the clock has retracted is not put back', async () => {
  const kept = await keptCheckpoint(statusKeys.signer);
  const retracted = `sha256:${nativeCrypto.sha256Hex(String(kept.jws))}`;
  expect(await list(statusKeys.published, kept, DID, { retracted })).toEqual({ lost: [], ahead: [] });
});

it('a checkpoint dated ahead of the clock is listed as ahead, and not put back', async () => {
  const kept = await keptCheckpoint(statusKeys.signer);
  expect(await list(statusKeys.published, kept, DID, { nowMs: CLOSED_MS - 1 })).toEqual({
    lost: [],
    ahead: [{ day: DAY, atMs: CLOSED_MS }],
  });
});

it('a day without a kept checkpoint is not put back', async () => {
  expect(await list(statusKeys.published, {})).toEqual({ lost: [], ahead: [] });
});

it('a checkpoint that the service never signed is refused', async () => {
  const forged = keptCheckpoint(keysOf('status').signer);
  await expect(list(statusKeys.published, await forged)).rejects.toThrow("is not the service's");
});
