/** `GET /decisions/{receipt_id}/attestation` (protocol §12). deployments/leaked-key tests its use. */

import { decodeBase64urlText } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { receiptIdsOf } from '@svc/testkit';
import { readServiceKeys, verifyAttestation } from '@svc/transparency';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withThreeDays } from '../../world/three-days.ts';

const deployment = withOwnDeployment();
const { get, close, ids, small, empty } = await withThreeDays(deployment);
const [receiptId = ''] = ids[0] ?? [];

const payloadOf = (jws: unknown) => JSON.parse(decodeBase64urlText(String(jws).split('.')[1] ?? '') ?? '');

it('GET /decisions/{receipt_id}/attestation answers 202 pending until the Receipt’s day is closed', async () => {
  const { status, json } = await get(`/decisions/${receiptId}/attestation`);
  expect([status, json]).toEqual([202, { receipt_id: receiptId, day: small, status: 'pending' }]);
});

describe('The attestation of a Receipt of a closed day', () => {
  beforeAll(close);

  it('is signed by a key in force, names the hash of the published checkpoint, and is public', async () => {
    const { status, json, headers } = await get(`/decisions/${receiptId}/attestation`);
    expect([status, json.receipt_id, json.day]).toEqual([200, receiptId, small]);
    expect(headers['cache-control']).toBe('public, max-age=3600');
    const read = readServiceKeys((await get('/.well-known/did.json')).text);
    const keys = read.ok ? read.keys : expect.fail('no document');
    const { json: checkpoint } = await get(`/checkpoints/${small}`);
    expect(verifyAttestation(String(json.attestation), keys, nativeCrypto)).toMatchObject({
      ok: true,
      attestation: { receipt_id: receiptId, checkpoint_hash: checkpoint.checkpoint_hash, iss: keys.did },
    });
  });

  it('is signed once and then the same for later callers', async () => {
    const path = `/decisions/${ids[0]?.[1]}/attestation`;
    const first = (await get(path)).json.attestation;
    const { clock } = deployment.process.service;
    const later = vi.spyOn(clock, 'nowMs').mockReturnValue(clock.nowMs() + 10_000);
    onTestFinished(() => later.mockRestore());
    expect((await get(path)).json.attestation).toBe(first);
    const other = payloadOf((await get(`/decisions/${ids[0]?.[2]}/attestation`)).json.attestation);
    expect(Number(other.iat)).toBeGreaterThanOrEqual(Number(payloadOf(first).iat) + 9);
  });

  it('is 404 for a Receipt that does not exist', async () => {
    const [absent] = receiptIdsOf(empty, 1);
    expect((await get(`/decisions/${absent}/attestation`)).status).toBe(404);
  });
});
