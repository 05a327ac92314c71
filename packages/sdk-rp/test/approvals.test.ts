import { type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { expect, it } from 'vitest';
import { createVerifier, SvcError } from '../src/index.ts';
import { SERVICE, SHOP } from './world.ts';

const RECEIPT_ID = 'drc_01M7VZGC008Q2R7V9X1C4E6H8K';
const PROOF = 'a.b.c';
const ID = 'arq_01M7VZGC008Q2R7V9X1C4E6H8S';
const address = `https://svc.example/access/v1/requests/${ID}`;
const request = (status: string, more: object = {}) => ({
  task: {
    id: ID,
    status,
    status_endpoint: address,
    expires_at: '2026-11-20T08:15:00.000Z',
    links: { cancel: `${address}/cancel` },
  },
  relying_party: SHOP,
  principal: 'did:web:acme.example',
  grant_id: 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J',
  agent: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  action: { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' },
  capability: { action: 'commerce:purchase', constraints: { maxUses: 1 }, resources: ['order/7'] },
  receipt_id: RECEIPT_ID,
  proof: PROOF,
  requested_at: '2026-11-20T08:00:00.000Z',
  decided_at: null,
  reason: null,
  result: null,
  ...more,
});
const approved = request('approved', {
  decided_at: '2026-11-20T08:01:00.000Z',
  result: {
    mode: 'urn:svc:access-request:mode:grant',
    grant_id: 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8T',
    grant: 'a.b.c',
    approved_until: '2026-11-20T08:11:00.000Z',
  },
});
const reply = (json: object, status = 200): Reply => ({ status, json });
const verifierAt = (baseUrl: string) =>
  createVerifier({ baseUrl, apiKey: 'dk_rp_test', serviceDid: SERVICE, relyingParty: SHOP, random: () => 0 });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof SvcError ? error.kind : error),
  );

it('requestApproval takes the id or the verdict of a denial, and sends only that id, the Proof and the lifetime', async () => {
  await using server = await startServer([reply(request('pending'), 202)]);
  const verifier = verifierAt(server.baseUrl);
  expect((await verifier.requestApproval(RECEIPT_ID, { proof: PROOF })).task.status).toBe('pending');
  const verdict = { receipt: { receipt_id: RECEIPT_ID } };
  await verifier.requestApproval(verdict, { proof: PROOF, expiresInSeconds: 60 });
  expect(server.received.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/access/v1/requests', { receipt_id: RECEIPT_ID, proof: PROOF }],
    ['/access/v1/requests', { receipt_id: RECEIPT_ID, proof: PROOF, expires_in_seconds: 60 }],
  ]);
});

it('malformed ids and options are refused before anything is sent', async () => {
  await using server = await startServer(['silence']);
  const verifier = verifierAt(server.baseUrl);
  expect(await failure(verifier.requestApproval('urn:svc:grant:1', { proof: PROOF }))).toBe(
    'invalid-argument',
  );
  expect(await failure(verifier.requestApproval(RECEIPT_ID, { proof: PROOF, expiresInSeconds: 59 }))).toBe(
    'invalid-argument',
  );
  expect(await failure(verifier.requestApproval(RECEIPT_ID, undefined as never))).toBe('invalid-argument');
  expect(await failure(verifier.waitForApproval(RECEIPT_ID))).toBe('invalid-argument');
  expect(await failure(verifier.waitForApproval(ID, { timeoutMs: 0 }))).toBe('invalid-argument');
  expect(server.received).toEqual([]);
});

it('requestApproval refuses a dry run, which is no decision, before anything is sent', async () => {
  await using server = await startServer(['silence']);
  const dryRun = { dry_run: 'nothing was decided', would: 'deny' } as never;
  await expect(verifierAt(server.baseUrl).requestApproval(dryRun, { proof: PROOF })).rejects.toMatchObject({
    kind: 'invalid-argument',
    message: expect.stringContaining('a dry run is no decision'),
  });
  expect(server.received).toEqual([]);
});

it('waitForApproval polls until the request is decided, and pauses between answers that come at once', async () => {
  await using server = await startServer([reply(request('pending')), reply(approved)]);
  const began = performance.now();
  const { result } = await verifierAt(server.baseUrl).waitForApproval(ID);
  expect(result?.grant).toBe('a.b.c');
  expect(server.received.map(({ path }) => path)).toEqual(Array(2).fill(`/access/v1/requests/${ID}?wait=20`));
  expect(performance.now() - began).toBeGreaterThan(900);
});

it.each([300, 2_000, 5_000, 20_000, 25_000])(
  'waitForApproval within %i ms asks the service to answer a second before the end',
  async (timeoutMs) => {
    await using server = await startServer([reply(approved)]);
    await verifierAt(server.baseUrl).waitForApproval(ID, { timeoutMs });
    const asked = new URL(server.received[0]?.path ?? '', server.baseUrl).searchParams.get('wait');
    expect(Number(asked) * 1_000).toBeLessThanOrEqual(Math.max(0, timeoutMs - 1_000));
  },
);

it.each(['denied', 'expired', 'cancelled'])(
  'waitForApproval returns a request that is %s, without a Grant',
  async (status) => {
    await using server = await startServer([reply(request(status))]);
    const { task, result } = await verifierAt(server.baseUrl).waitForApproval(ID);
    expect([task.status, result]).toEqual([status, null]);
  },
);

it('waitForApproval times out while nobody decides, whether the service answers pending or not at all', async () => {
  await using pending = await startServer([reply(request('pending'))]);
  expect(await failure(verifierAt(pending.baseUrl).waitForApproval(ID, { timeoutMs: 300 }))).toBe('timeout');
  expect(pending.received.length).toBe(1);
  await using silent = await startServer(['silence']);
  expect(await failure(verifierAt(silent.baseUrl).waitForApproval(ID, { timeoutMs: 300 }))).toBe('timeout');
});

it('waitForApproval ends with the caller’s signal', async () => {
  await using server = await startServer([reply(request('pending'))]);
  const ending = new AbortController();
  const waiting = failure(verifierAt(server.baseUrl).waitForApproval(ID, { signal: ending.signal }));
  while (server.received.length === 0) await new Promise(setImmediate);
  ending.abort();
  expect(await waiting).toBe('aborted');
});

it('waitForApproval and cancelApproval refuse an answer about another request', async () => {
  await using server = await startServer([reply(approved)]);
  const other = ID.replace('S', 'T');
  const verifier = verifierAt(server.baseUrl);
  expect(await failure(verifier.waitForApproval(other))).toBe('bad-response');
  expect(await failure(verifier.cancelApproval(other))).toBe('bad-response');
});
