/** `GET /decisions/{receipt_id}/inclusion` (interface §Transparency). */
import { verifyInclusion } from '@svc/merkle';
import { receiptIdsOf } from '@svc/testkit';
import { parseSignedCheckpoint } from '@svc/transparency';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { hashOf, withThreeDays } from '../../world/three-days.ts';

const { get, close, ids, small, empty, large } = await withThreeDays(withOwnDeployment());

describe('Before the day is closed', () => {
  it('its checkpoint and leaves are 404, and GET /decisions/{receipt_id}/inclusion answers 202 pending', async () => {
    expect((await get('/checkpoints/latest')).status).toBe(404);
    expect((await get(`/checkpoints/${small}`)).status).toBe(404);
    expect((await get(`/checkpoints/${small}/leaves`)).status).toBe(404);
    const [receiptId] = ids[0] ?? [];
    const waiting = await get(`/decisions/${receiptId}/inclusion`);
    expect([waiting.status, waiting.json]).toEqual([
      202,
      { receipt_id: receiptId, day: small, status: 'pending' },
    ]);
    expect(waiting.headers['cache-control']).toBe('no-store');
  });
});

describe('GET /decisions/{receipt_id}/inclusion for a closed day', () => {
  beforeAll(close);

  it('proves each Receipt against the root of the signed checkpoint; an unknown Receipt is 404', async () => {
    for (const index of [0, 255, 256, 1_279, 1_280, 1_499]) {
      const receiptId = ids[2]?.[index];
      const { json, headers } = await get(`/decisions/${receiptId}/inclusion`);
      expect(json).toMatchObject({ receipt_id: receiptId, day: large, leaf_index: index, tree_size: 1_500 });
      expect(headers['cache-control']).toBe('public, max-age=3600');
      const path = (json.audit_path as string[]).map(hashOf);
      const inclusion = { leafHash: hashOf(json.leaf), index, size: 1_500, path };
      expect(verifyInclusion(inclusion, hashOf(json.root))).toBe(true);
      expect(parseSignedCheckpoint(String(json.checkpoint))).toMatchObject({
        ok: true,
        checkpoint: { day: large, root: json.root },
        kid: json.kid,
      });
    }
    const [absent] = receiptIdsOf(empty, 1);
    const { status, json } = await get(`/decisions/${absent}/inclusion`);
    expect([status, json.message]).toEqual([404, `This service has no Receipt ${absent}.`]);
  });
});
