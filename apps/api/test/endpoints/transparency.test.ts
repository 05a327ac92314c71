import { MerkleTree, parseHash, verifyInclusion } from '@svc/merkle';
import { type DidWeb, parseDidDocument } from '@svc/protocol';
import { daysAgo, insertReceipts, moveFirstDay, receiptIdsOf } from '@svc/testkit';
import { parseSignedCheckpoint, verifyCheckpoint } from '@svc/transparency';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-process.ts';
import { withDeployment } from '../world/deployment.ts';

const deployment = withDeployment();
const sizes = [3, 0, 1_500];
const days = sizes.map((_, i) => daysAgo(sizes.length - i));
const ids = days.map((day, i) => receiptIdsOf(day, sizes[i] ?? 0));
const [first = '', empty = '', large = ''] = days;
const IMMUTABLE = 'public, max-age=31536000, immutable';

const get = (path: string) => deployment.call('GET', path);
const hash = (hex: unknown) => parseHash(String(hex).replace('sha256:', '')) ?? new Uint8Array(0);

beforeAll(async () => {
  const { databaseUrl } = deployment;
  await moveFirstDay(databaseUrl, first);
  for (const [i, day] of days.entries()) await insertReceipts(databaseUrl, ids[i] ?? [], [day]);
});

describe('before any day is closed', () => {
  it('there is no checkpoint, and a receipt waits for its day', async () => {
    expect((await get('/checkpoints/latest')).status).toBe(404);
    expect((await get(`/checkpoints/${first}`)).status).toBe(404);
    expect((await get(`/checkpoints/${first}/leaves`)).status).toBe(404);
    const [receiptId] = ids[0] ?? [];
    const waiting = await get(`/decisions/${receiptId}/inclusion`);
    expect([waiting.status, waiting.json]).toEqual([
      202,
      { receipt_id: receiptId, day: first, status: 'pending' },
    ]);
    expect(waiting.headers['cache-control']).toBe('no-store');
  });
});

describe('closed days', () => {
  it('are closed by the operator, once', async () => {
    const close = () => deployment.call('POST', '/checkpoints/close', { key: ADMIN_TOKEN });
    expect((await close()).json).toEqual({ closed: days, latest: large });
    expect((await close()).json).toEqual({ closed: [], latest: large });
  });

  it('have signed checkpoints in a chain, for ever the same, that name their leaves', async () => {
    const { text, json: shown } = await get('/.well-known/did.json');
    const document = parseDidDocument(text, shown.id as DidWeb);
    if (document === null) throw new Error('no DID document');
    let previousRoot: unknown = null;
    for (const [i, day] of days.entries()) {
      const { status, json, headers } = await get(`/checkpoints/${day}`);
      expect([status, headers['cache-control']]).toEqual([200, IMMUTABLE]);
      expect(json).toMatchObject({ day, tree_size: sizes[i], previous_root: previousRoot });
      previousRoot = json.root;
      const keys = document.assertionKeys;
      const checkpoint = String(json.checkpoint);
      const verified = verifyCheckpoint({ checkpoint, serviceDid: document.id, keys });
      if (!verified.ok) throw new Error(JSON.stringify(verified.failures));
      const { iat, iss, ...signed } = verified.checkpoint;
      expect(json).toMatchObject({ ...signed, kid: verified.kid });

      const leaves = await get(new URL(String(json.leaves_url)).pathname);
      expect(leaves.headers).toMatchObject({
        'x-svc-tree-size': String(sizes[i]),
        'x-svc-root': json.root,
        'cache-control': IMMUTABLE,
      });
      const lines = leaves.text.split('\n').slice(0, -1);
      expect(lines).toHaveLength(sizes[i] ?? -1);
      expect(new MerkleTree(lines.map(hash)).root).toEqual(hash(json.root));
    }
    const latest = await get('/checkpoints/latest');
    expect(latest.json).toMatchObject({ day: large });
    expect(latest.headers['cache-control']).toBe('public, max-age=60');
  });

  it('prove each receipt, and nothing else', async () => {
    for (const index of [0, 255, 256, 1_279, 1_280, 1_499]) {
      const receiptId = ids[2]?.[index];
      const { json, headers } = await get(`/decisions/${receiptId}/inclusion`);
      expect(json).toMatchObject({ receipt_id: receiptId, day: large, leaf_index: index, tree_size: 1_500 });
      expect(headers['cache-control']).toBe(IMMUTABLE);
      const path = (json.audit_path as string[]).map(hash);
      const inclusion = { leafHash: hash(json.leaf), index, size: 1_500, path };
      expect(verifyInclusion(inclusion, hash(json.root))).toBe(true);
      expect(parseSignedCheckpoint(String(json.checkpoint))).toMatchObject({
        ok: true,
        checkpoint: { day: large, root: json.root },
        kid: json.kid,
      });
    }
    const [absent] = receiptIdsOf(empty, 1);
    expect((await get(`/decisions/${absent}/inclusion`)).status).toBe(404);
  });

  it.each(['2026-02-30', '2026-1-1', 'yesterday', '../latest', '0000-01-01', '0001-01-01', '9999-12-31'])(
    '%s is no day that could be closed',
    async (day) => {
      expect((await get(`/checkpoints/${encodeURIComponent(day)}`)).status).toBe(404);
    },
  );
});
