/** `GET /checkpoints/{day}/leaves` (interface §Transparency). */
import { MerkleTree } from '@svc/merkle';
import { beforeAll, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { AN_HOUR, hashOf, SIZES, withThreeDays } from '../../world/three-days.ts';

const deployment = withOwnDeployment();
const { get, close, days, ids, large } = await withThreeDays(deployment);
beforeAll(close);

it('GET /checkpoints/{day}/leaves lists as many leaves as the tree size, with its root, in the order of inclusion proofs', async () => {
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

it('GET /checkpoints/{day}/leaves answers 429 to many concurrent calls of one address; another address is served', async () => {
  const ask = (ip: string) => deployment.call('GET', `/checkpoints/${large}/leaves`, { ip });
  const [other, ...answers] = await Promise.all([
    ask('198.51.100.2'),
    ...Array.from({ length: 40 }, () => ask('198.51.100.1')),
  ]);
  expect(other?.status).toBe(200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, json, headers } of refused) {
    expect([status, json.error]).toEqual([429, 'RATE_LIMITED']);
    expect([headers['retry-after'], headers['cache-control']]).toEqual(['2', 'no-store']);
  }
  expect((await ask('198.51.100.1')).status).toBe(200);
});

it('GET /checkpoints/{day}/leaves answers 404 for a day that is not closed or not a date', async () => {
  for (const day of [new Date().toISOString().slice(0, 10), '2026-02-30', 'yesterday'])
    expect((await get(`/checkpoints/${day}/leaves`)).json.error).toBe('NOT_FOUND');
});
