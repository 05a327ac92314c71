/** `GET /decisions/{receipt_id}/attestation` (protocol §12). What it is good for: deployments/leaked-key. */

import { nativeCrypto } from '@svc/protocol/native';
import { receiptIdsOf } from '@svc/testkit';
import { readServiceKeys, verifyAttestation } from '@svc/transparency';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withThreeDays } from '../../world/three-days.ts';

const { get, close, ids, small, empty } = withThreeDays(withOwnDeployment());
const [receiptId = ''] = ids[0] ?? [];

it('waits for the day of the Receipt', async () => {
  const { status, json } = await get(`/decisions/${receiptId}/attestation`);
  expect([status, json]).toEqual([202, { receipt_id: receiptId, day: small, status: 'pending' }]);
});

describe('of a closed day', () => {
  beforeAll(close);

  it('is by a key in force, of the checkpoint that was published, for anybody', async () => {
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

  it('is not made of a Receipt that does not exist', async () => {
    const [absent] = receiptIdsOf(empty, 1);
    expect((await get(`/decisions/${absent}/attestation`)).status).toBe(404);
  });
});
