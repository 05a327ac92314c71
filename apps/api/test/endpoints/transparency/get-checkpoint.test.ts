/** `GET /checkpoints/{day}` (interface §Transparency). */
import { MerkleTree } from '@svc/merkle';
import { verifyCheckpoint } from '@svc/transparency';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { AN_HOUR, hashOf, SIZES, withThreeDays } from '../../world/three-days.ts';

const { get, close, days, large } = await withThreeDays(withOwnDeployment());
beforeAll(close);

describe('GET /checkpoints/{day}', () => {
  it('returns for closed days signed, cacheable checkpoints, chained by previous_root, with size and root of their leaves', async () => {
    const { text: serviceDidDocument } = await get('/.well-known/did.json');
    let previousRoot: unknown = null;
    for (const [i, day] of days.entries()) {
      const { status, json, headers } = await get(`/checkpoints/${day}`);
      expect([status, headers['cache-control']]).toEqual([200, AN_HOUR]);
      expect(json).toMatchObject({ day, tree_size: SIZES[i], previous_root: previousRoot });
      previousRoot = json.root;
      const checkpoint = String(json.checkpoint);
      const verified = verifyCheckpoint({ checkpoint, serviceDidDocument });
      if (!verified.ok) throw new Error(JSON.stringify(verified.failures));
      const { iat, iss, ...signed } = verified.checkpoint;
      expect(json).toMatchObject({ ...signed, kid: verified.kid });

      const leaves = await get(new URL(String(json.leaves_url)).pathname);
      expect(leaves.headers).toMatchObject({
        'x-svc-tree-size': String(SIZES[i]),
        'x-svc-root': json.root,
        'cache-control': AN_HOUR,
      });
      const lines = leaves.text.split('\n').slice(0, -1);
      expect(lines).toHaveLength(SIZES[i] ?? -1);
      expect(new MerkleTree(lines.map(hashOf)).root).toEqual(hashOf(json.root));
    }
    const latest = await get('/checkpoints/latest');
    expect(latest.json).toMatchObject({ day: large });
    expect(latest.headers['cache-control']).toBe('public, max-age=60');
  });

  it.each(['2026-02-30', '2026-1-1', 'yesterday', '../latest', '0000-01-01', '0001-01-01', '9999-12-31'])(
    '%s is 404, because it cannot be a closed day',
    async (day) => {
      expect((await get(`/checkpoints/${encodeURIComponent(day)}`)).status).toBe(404);
    },
  );
});
