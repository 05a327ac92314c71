/** `POST /verify` (interface §Verify, §Receipt, §Limits): the answers and their statuses. */
import { createHash } from 'node:crypto';
import { nativeCrypto } from '@svc/protocol/native';
import { verifyReceipt } from '@svc/receipts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import {
  ACTION,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;

beforeAll(async () => {
  tenants = await deployment.createTenants();
  grant = await issueGrant(tenants);
});

const verify = (body: unknown, headers: Record<string, string> = {}, key = tenants.rpKey) =>
  deployment.call('POST', '/verify', { key, body, headers });
const verifyText = (rawBody: string) => deployment.call('POST', '/verify', { key: tenants.rpKey, rawBody });
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describe('POST /verify answers 200', () => {
  it('ALLOW: the Receipt has every field, all 24 checks passed, and its signature verifies offline', async () => {
    const body = await verifyBody(tenants, grant);
    const answer = await verify(body);
    const receipt = receiptOf(answer);
    expect(receipt).toMatchObject({
      receipt_version: 'svc-receipt-v1',
      decision: 'ALLOW',
      reason: null,
      relying_party: tenants.rpDid,
      principal: { id: tenants.principalDid, verification: 'domain' },
      agent: tenants.agent.did,
      grant_id: grant.grantId,
      grant_hash: sha256(body.grant),
      proof_hash: sha256(body.proof),
      authority: {
        action: 'commerce:purchase',
        constraints: { maxAmount: 1000, currency: 'USD' },
        resources: ['order/*'],
      },
      protocol: { result: 'PASS', profile: 'svc-base-v1' },
      trust: { result: 'PASS', policy_version: 'svc-trust-v1' },
    });
    expect(Object.values({ ...receipt.protocol.checks, ...receipt.trust.checks })).toEqual(
      Array(24).fill(true),
    );
    const didDocument = (await deployment.call('GET', '/.well-known/did.json')).json;
    expect(verifyReceipt(answer.json, didDocument, { crypto: nativeCrypto })).toMatchObject({
      ok: true,
      decision: 'ALLOW',
    });
  });

  it('DENY: the Receipt is signed and names the reason', async () => {
    const body = await verifyBody(tenants, grant);
    const receipt = receiptOf(await verify({ ...body, action: { ...ACTION, amount: 101 } }));
    expect(receipt).toMatchObject({ decision: 'DENY', reason: 'PROOF_ACTION_MISMATCH', authority: null });
  });

  it.each([
    ['grant', '', 'GRANT_MALFORMED'],
    ['grant', 'x'.repeat(16_385), 'GRANT_MALFORMED'],
    ['proof', '', 'PROOF_MALFORMED'],
    ['proof', 'é\u{1F600}', 'PROOF_MALFORMED'],
    ['action', {}, 'ACTION_MALFORMED'],
    ['action', { ...ACTION, more: 1 }, 'ACTION_MALFORMED'],
    ['action', { ...ACTION, amount: -1 }, 'ACTION_MALFORMED'],
  ])('a malformed %s (%#) is evaluated and denied', async (member, value, reason) => {
    const body = { ...(await verifyBody(tenants, grant)), [member]: value };
    expect(receiptOf(await verify(body))).toMatchObject({ decision: 'DENY', reason });
  });

  it.each([
    ['a member twice in the action', `{"grant":"","proof":"","action":{"type":1,"type":1}}`],
    ['a fraction in the action', `{"grant":"","proof":"","action":{"amount":1.5}}`],
    ['a lone surrogate in the Grant', `{"grant":"\\ud800","proof":"","action":{}}`],
    ['U+0000 in the Grant', `{"grant":"\\u0000","proof":"","action":{}}`],
    ['an action of depth 40', `{"grant":"","proof":"","action":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`],
  ])('%s is evaluated and denied, not refused with 400', async (_name, text) => {
    const receipt = receiptOf(await verifyText(text));
    expect(receipt.protocol.checks).toMatchObject({ P1: false, P8: false, P15: false });
  });

  it('an action with a duplicate member is denied, even where both values are the same and permitted', async () => {
    const body = await verifyBody(tenants, grant);
    const text = JSON.stringify(body).replace('"amount":100', '"amount":100,"amount":100');
    expect(receiptOf(await verifyText(text)).reason).toBe('ACTION_MALFORMED');
  });

  it('a Receipt denied before P3 has no principal, grant_id or authority', async () => {
    const receipt = receiptOf(await verify({ grant: '', proof: '', action: {} }));
    for (const member of ['principal', 'grant_id', 'authority', 'expires_at', 'agent', 'request_hash'])
      expect(receipt).not.toHaveProperty(member);
  });
});

it('A DENY links to the page of its reason, also when replayed by Idempotency-Key; an ALLOW has no link', async () => {
  const body = await verifyBody(tenants, grant);
  const linkOf = async (headers = {}) => (await verify(body, headers)).headers.link ?? null;
  expect(await linkOf()).toBeNull();
  const headers = { 'idempotency-key': 'denied-twice' };
  const page = expect.stringMatching(/^<https?:\/\/[^<>]+\/guide\/reasons\/PROOF_REPLAYED>; rel="help"$/);
  for (let time = 0; time < 2; time++) expect(await linkOf(headers)).toEqual(page);
});

describe('POST /verify answers 400', () => {
  const jws = 'a.b.c';
  it.each([
    ['no body', ''],
    ['not JSON', '{"grant":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"text"'],
    ['an empty object', '{}'],
    ['no grant', JSON.stringify({ proof: jws, action: {} })],
    ['no proof', JSON.stringify({ grant: jws, action: {} })],
    ['no action', JSON.stringify({ grant: jws, proof: jws })],
    ['grant not a string', JSON.stringify({ grant: 1, proof: jws, action: {} })],
    ['proof null', JSON.stringify({ grant: jws, proof: null, action: {} })],
    ['action an array', JSON.stringify({ grant: jws, proof: jws, action: [] })],
    ['action a string', JSON.stringify({ grant: jws, proof: jws, action: 'x' })],
    ['an unknown member', JSON.stringify({ grant: jws, proof: jws, action: {}, rp: 'x' })],
    ['a member twice', `{"grant":"","grant":"","proof":"","action":{}}`],
    ['__proto__ as a member', `{"grant":"","proof":"","action":{},"__proto__":{}}`],
    ['a byte order mark', `\uFEFF{"grant":"","proof":"","action":{}}`],
  ])('to an envelope with this fault: %s', async (_name, text) => {
    const { status, json } = await verifyText(text);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('to an unknown query parameter and to a malformed Idempotency-Key, and the Proof stays unspent', async () => {
    const body = await verifyBody(tenants, grant);
    const options = { key: tenants.rpKey, body };
    expect((await deployment.call('POST', '/verify?rp=x', options)).status).toBe(400);
    for (const key of ['x'.repeat(65), 'a b', 'ü'])
      expect((await verify(body, { 'idempotency-key': Buffer.from(key).toString('latin1') })).status).toBe(
        400,
      );
    // No call above spent the Proof.
    expect(receiptOf(await verify(body)).decision).toBe('ALLOW');
  });
});

describe('POST /verify answers 401', () => {
  it('to a key revoked after its first call, and the Proof stays unspent', async () => {
    const key = await deployment.createKey('rp', tenants.rpDid);
    expect((await verify(await verifyBody(tenants, grant), {}, key)).status).toBe(200);
    await deployment.revokeKey(key);
    const body = await verifyBody(tenants, grant);
    expect((await verify(body, {}, key)).status).toBe(401);
    expect(receiptOf(await verify(body)).decision).toBe('ALLOW');
  });
});

describe('An Idempotency-Key on POST /verify', () => {
  it('replays the stored Receipt byte for byte for the same body; another body gets 409 and decides nothing', async () => {
    const headers = { 'idempotency-key': 'order-1_A' };
    const body = await verifyBody(tenants, grant);
    const first = await verify(body, headers);
    expect(first.headers['svc-idempotent-replay']).toBeUndefined();
    const again = await verify(body, headers);
    expect([again.status, again.text, again.headers['svc-idempotent-replay']]).toEqual([
      200,
      first.text,
      'true',
    ]);
    const other = await verifyBody(tenants, grant);
    expect(await verify(other, headers)).toMatchObject({ status: 409, json: { error: 'CONFLICT' } });
    expect(receiptOf(await verify(other)).decision).toBe('ALLOW');
  });

  it("belongs to one relying party: another relying party's same key does not replay its Receipt", async () => {
    const headers = { 'idempotency-key': 'shared' };
    const other = await deployment.register('/relying-parties', {
      kind: 'managed',
      slug: 'idempotent-other',
    });
    const mine = receiptOf(await verify(await verifyBody(tenants, grant), headers));
    const theirs = receiptOf(await verify(await verifyBody(tenants, grant), headers, other.key));
    expect([mine.decision, theirs.reason]).toEqual(['ALLOW', 'PROOF_AUDIENCE_MISMATCH']);
  });

  it('does not return the stored Receipt to a revoked API key', async () => {
    const headers = { 'idempotency-key': 'before-revocation' };
    const key = await deployment.createKey('rp', tenants.rpDid);
    const body = await verifyBody(tenants, grant);
    expect(receiptOf(await verify(body, headers, key)).decision).toBe('ALLOW');
    await deployment.revokeKey(key);
    expect((await verify(body, headers, key)).status).toBe(401);
  });

  it('also stores and replays a DENY', async () => {
    const headers = { 'idempotency-key': 'denied' };
    const body = { grant: '', proof: '', action: {} };
    expect((await verify(body, headers)).text).toBe((await verify(body, headers)).text);
  });
});

describe('POST /verify answers 413', () => {
  const sized = (bytes: number) => {
    const frame = JSON.stringify({ grant: '', proof: '', action: {} });
    return frame.replace('"grant":""', `"grant":"${'x'.repeat(bytes - frame.length)}"`);
  };

  it('to 65,537 bytes; 65,536 bytes are evaluated', async () => {
    expect(receiptOf(await verifyText(sized(65_536))).reason).toBe('GRANT_MALFORMED');
    expect(await verifyText(sized(65_537))).toMatchObject({
      status: 413,
      json: { error: 'PAYLOAD_TOO_LARGE' },
    });
  });

  it('by the number of bytes, not characters', async () => {
    const text = JSON.stringify({ grant: 'é'.repeat(33_000), proof: '', action: {} });
    expect((await verifyText(text)).status).toBe(413);
  });
});

describe('The rate limit of POST /verify', () => {
  it("counts each key against the relying party's own limit; a raised limit applies to the calls of a fresh key", async () => {
    const limited = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 2 } });
    const second = await deployment.createKey('rp', limited.rpDid);
    const body = { grant: '', proof: '', action: {} };
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await verify(body, {}, limited.rpKey));
    for (const { headers } of answers) expect(headers['ratelimit-limit']).toBe('2');
    // Three calls fall into at most two windows, each of which allows two.
    expect(answers[0]?.status).toBe(200);
    expect((await verify(body, {}, second)).status).toBe(200);
    const path = `/relying-parties/${limited.rpDid}`;
    await deployment.call('PATCH', path, { key: ADMIN_TOKEN, body: { verify_rate_limit_per_minute: 9 } });
    const fresh = await deployment.createKey('rp', limited.rpDid);
    expect((await verify(body, {}, fresh)).headers).toMatchObject({
      'ratelimit-limit': '9',
      'ratelimit-remaining': '8',
    });
  });
});
