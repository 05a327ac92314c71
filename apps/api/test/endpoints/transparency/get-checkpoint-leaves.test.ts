/** `GET /checkpoints/{day}/leaves` (interface §Transparency). */
import { MerkleTree } from '@svc/merkle';
import { beforeAll, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { AN_HOUR, hashOf, SIZES, withThreeDays } from '../../world/three-days.ts';

const { get, close, days, ids, large } = withThreeDays(withOwnDeployment());
beforeAll(close);

it('are as many as the tree has, make its root, and stand where inclusion proofs say', async () => {
  for (const [i, day] of days.entries()) {
    const { status, text, headers } = await get(`/checkpoints/${day}/leaves`);
    expect([status, headers['cache-control']]).toEqual([200, AN_HOUR]);
    expect(headers['x-svc-tree-size']).toBe(String(SIZES[i]));
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(SIZES[i] ?? -1);
    expect(new MerkleTree(lines.map(hashOf)).root).toEqual(hashOf(headers['x-svc-root']));
  }
  const lines = (await get(`/checkpoints/${large}/leaves`)).text.split('\n');
  for (const index of [0, 256, 1_499]) {
    const { json } = await get(`/decisions/${ids[2]?.[index]}/inclusion`);
    expect(hashOf(lines[index])).toEqual(hashOf(json.leaf));
  }
});

it('of a day that is not closed, or is none, are 404', async () => {
  for (const day of [new Date().toISOString().slice(0, 10), '2026-02-30', 'yesterday'])
    expect((await get(`/checkpoints/${day}/leaves`)).json.error).toBe('NOT_FOUND');
});
