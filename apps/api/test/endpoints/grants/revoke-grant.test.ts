/** `POST /revoke` and the status list that it changes (interface §Principal lifecycle, §Public; protocol §9). */
import { gunzipSync } from 'node:zlib';
import { withSession } from '@svc/testkit/store/session';
import { compactVerify, importJWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withOwnDeployment } from '../../world/deployment.ts';
import { publicJwkOf } from '../../world/published-keys.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const STATUS_HOST = `status.${DOMAIN}`;
const deployment = withOwnDeployment({ SVC_STATUS_BASE_URL: `http://${STATUS_HOST}` });
let orgId: string;
let own: Tenants;
let foreign: Tenants;
let orgAdmin: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: await deployment.createOrg() });
  orgAdmin = await deployment.createKey('org:admin', orgId);
});

const revoke = (key: string, body: unknown, query = '') =>
  deployment.call('POST', `/revoke${query}`, { key, body });

/** Largest difference between a node's clock and this process's. */
const CLOCK_ERROR_MS = 100;

describe('POST /revoke answers 200', () => {
  it('and the Grant is denied from then on; repeated calls return the first revoked_at', async () => {
    const grant = await issueGrant(own);
    const before = Date.now();
    const first = await revoke(own.principalKey, { grant_id: grant.grantId });
    expect(first.json).toEqual({ grant_id: grant.grantId, revoked: true, revoked_at: expect.any(String) });
    expect(Date.parse(String(first.json.revoked_at))).toBeGreaterThanOrEqual(before - CLOCK_ERROR_MS);
    const body = await verifyBody(own, grant);
    const denied = await deployment.call('POST', '/verify', { key: own.rpKey, body });
    expect(receiptOf(denied)).toMatchObject({ decision: 'DENY', reason: 'AUTHORITY_REVOKED' });
    const again = await Promise.all(
      Array.from({ length: 8 }, () => revoke(own.principalKey, { grant_id: grant.grantId })),
    );
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set([first.text]));
  });

  it('and P6 fails with AUTHORITY_REVOKED also where another check failed before, although the list was cached', async () => {
    const grant = await issueGrant(own);
    const body = await verifyBody(own, grant);
    const tooMuch = { ...body, action: { ...body.action, amount: 1_000_000_00 } };
    const before = await deployment.call('POST', '/verify', { key: own.rpKey, body: tooMuch });
    expect(receiptOf(before)).toMatchObject({
      reason: 'PROOF_ACTION_MISMATCH',
      protocol: { checks: { P6: true } },
    });
    await revoke(own.principalKey, { grant_id: grant.grantId });
    const after = await deployment.call('POST', '/verify', { key: own.rpKey, body: tooMuch });
    expect(receiptOf(after)).toMatchObject({
      reason: 'AUTHORITY_REVOKED',
      protocol: { checks: { P6: false } },
    });
  });

  it('to each of 40 concurrent revocations, each with its own audit event, and signs the list fewer than 20 times', async () => {
    const tenants = await deployment.createTenants();
    const grants = [];
    for (let i = 0; i < 40; i++) grants.push(await issueGrant(tenants));
    const { rows: before } = await deployment.sql.query(
      'select version from status_lists where principal = $1',
      [tenants.principalDid],
    );
    const unknown = 'urn:svc:grant:00000000000000000000000000';
    const ids = [...grants.map(({ grantId }) => grantId), unknown];
    const answers = await Promise.all(
      ids.map((id) =>
        deployment.call('POST', '/revoke', {
          key: tenants.principalKey,
          body: { grant_id: id },
          headers: { 'x-request-id': `revokes ${id}` },
        }),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json.grant_id])).toEqual([
      ...grants.map(({ grantId }) => [200, grantId]),
      [404, undefined],
    ]);
    const { rows: audited } = await deployment.sql.query(
      `select target, request_id from audit_events where action = 'grant.revoke' and actor_did = $1`,
      [tenants.principalDid],
    );
    expect(audited.map(({ target, request_id }) => [target, request_id]).sort()).toEqual(
      grants.map(({ grantId }) => [grantId, `revokes ${grantId}`]).sort(),
    );
    const { rows: after } = await deployment.sql.query(
      'select version, bit_count(bits)::integer as ones from status_lists where principal = $1',
      [tenants.principalDid],
    );
    expect(after[0].ones).toBe(40);
    expect(Number(after[0].version) - Number(before[0].version)).toBeLessThan(20);
  });

  it("to the owner only: another Principal gets 404 at once, even while the Grant's row is locked", async () => {
    const { grantId } = await issueGrant(own);
    await withSession(deployment.databaseUrl, async (session) => {
      await session.query('begin');
      await session.query('select from grants where id = $1 for update', [grantId]);
      expect((await revoke(foreign.principalKey, { grant_id: grantId })).status).toBe(404);
      await session.query('rollback');
    });
  });

  it('with one revocation and one audit event for eight concurrent calls', async () => {
    const { grantId } = await issueGrant(own);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => revoke(own.principalKey, { grant_id: grantId })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const { rows } = await deployment.sql.query(
      `select actor_kind, actor_did from audit_events where action = 'grant.revoke' and target = $1`,
      [grantId],
    );
    expect(rows).toEqual([{ actor_kind: 'principal', actor_did: own.principalDid }]);
  });

  it('to an org:admin key for the member it names; the audit log records the org', async () => {
    const { grantId } = await issueGrant(own);
    const { status } = await revoke(orgAdmin, { grant_id: grantId }, `?principal=${own.principalDid}`);
    expect(status).toBe(200);
    const { rows } = await deployment.sql.query(
      'select actor_kind, actor_did from audit_events where action = $1 and target = $2',
      ['grant.revoke', grantId],
    );
    expect(rows).toEqual([{ actor_kind: 'org', actor_did: orgId }]);
  });

  it('to a Principal key that names its own Principal', async () => {
    const { grantId } = await issueGrant(own);
    expect(
      (await revoke(own.principalKey, { grant_id: grantId }, `?principal=${own.principalDid}`)).status,
    ).toBe(200);
  });
});

describe('POST /revoke refuses', () => {
  it("with 404 and the same answer another Principal's Grant and a Grant that does not exist, to Principal and org alike", async () => {
    const { grantId } = await issueGrant(foreign);
    const absent = grantId.replace(/.{6}$/, '000000');
    for (const [key, query] of [
      [own.principalKey, ''],
      [orgAdmin, `?principal=${own.principalDid}`],
    ] as const) {
      const seen = await revoke(key, { grant_id: grantId }, query);
      const none = await revoke(key, { grant_id: absent }, query);
      expect([seen.status, seen.text.replaceAll(grantId, '')]).toEqual([
        404,
        none.text.replaceAll(absent, ''),
      ]);
    }
    const { json } = await deployment.call('GET', '/grants?state=active', { key: foreign.principalKey });
    expect(JSON.stringify(json)).toContain(grantId);
  });

  it('with 404 and the same answer an org:admin key for a Principal outside its org and for one that does not exist', async () => {
    const { grantId } = await issueGrant(foreign);
    const absent = foreign.principalDid.replace(/.{10}$/, '0000000000');
    const seen = await revoke(orgAdmin, { grant_id: grantId }, `?principal=${foreign.principalDid}`);
    const none = await revoke(orgAdmin, { grant_id: grantId }, `?principal=${absent}`);
    expect([seen.status, seen.text.replaceAll(foreign.principalDid, '')]).toEqual([
      404,
      none.text.replaceAll(absent, ''),
    ]);
  });

  it('with 400 an org:admin key without the principal parameter', async () => {
    const { grantId } = await issueGrant(own);
    expect((await revoke(orgAdmin, { grant_id: grantId })).json.error).toBe('INVALID_REQUEST');
  });

  it('with 403 an org:read key and a Principal key that names another Principal', async () => {
    const { grantId } = await issueGrant(own);
    const query = `?principal=${own.principalDid}`;
    const orgRead = await deployment.createKey('org:read', orgId);
    expect((await revoke(orgRead, { grant_id: grantId }, query)).json.error).toBe('FORBIDDEN');
    expect((await revoke(foreign.principalKey, { grant_id: grantId }, query)).json.error).toBe('FORBIDDEN');
    const body = await verifyBody(own, await issueGrant(own));
    expect(receiptOf(await deployment.call('POST', '/verify', { key: own.rpKey, body })).decision).toBe(
      'ALLOW',
    );
  });

  it.each([
    [{}],
    [{ grant_id: null }],
    [{ grant_id: 'x' }],
    [{ grant_id: `urn:svc:grant:${'8'.repeat(26)}` }],
    [{ grant_id: `urn:svc:grant:${'0'.repeat(26)}\n` }],
    [{ grant_id: `urn:svc:grant:${'0'.repeat(26)}`, more: 1 }],
    [[]],
  ])('with 400 the body %j', async (body) => {
    const key = await deployment.createKey('principal', own.principalDid);
    expect((await revoke(key, body)).json.error).toBe('INVALID_REQUEST');
  });
});

describe('The status list', () => {
  const fetchList = (number: string, host = STATUS_HOST, prefix = '') =>
    deployment.call('GET', `${prefix}/${DOMAIN}/${number}`, { headers: { host } });

  it('is signed by a #status key (verified by jose) and sets exactly the bits of revoked Grants', async () => {
    const { principalKey, agent } = await deployment.createTenants();
    const entries = [];
    for (let i = 0; i < 3; i++)
      entries.push(
        (await deployment.call('POST', '/grants', { key: principalKey, body: { agent: agent.did } })).json,
      );
    const target = entries[1];
    const entry = target?.credentialStatus as { statusListIndex: string; statusListCredential: string };
    await revoke(principalKey, { grant_id: target?.id });
    const number = entry.statusListCredential.split('/').at(-1) ?? '';
    expect(entry.statusListCredential).toBe(`http://${STATUS_HOST}/${DOMAIN}/${number}`);

    const answer = await fetchList(number);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vc+jwt',
      'cache-control': 'max-age=30',
    });
    const did = (await deployment.call('GET', '/.well-known/did.json')).json;
    const header = JSON.parse(Buffer.from(answer.text.split('.')[0] ?? '', 'base64url').toString());
    expect(header).toEqual({ alg: 'EdDSA', typ: 'vc+jwt', kid: `did:web:${DOMAIN}#status-1` });
    const { payload } = await compactVerify(
      answer.text,
      await importJWK(publicJwkOf(did, header.kid), 'EdDSA'),
    );
    const credential = JSON.parse(new TextDecoder().decode(payload));
    expect(credential).toMatchObject({ id: entry.statusListCredential, issuer: `did:web:${DOMAIN}` });
    expect(onesOf(credential.credentialSubject.encodedList)).toEqual([Number(entry.statusListIndex)]);
  });

  it('is served with the same bytes at the bare path of the status host and under /status-lists; other paths are 404', async () => {
    const bare = await fetchList('1');
    const prefixed = await deployment.call('GET', `/status-lists/${DOMAIN}/1`);
    expect([prefixed.status, prefixed.text]).toEqual([200, bare.text]);
    expect((await deployment.call('GET', `/${DOMAIN}/1`)).status).toBe(404);
    for (const number of ['0', '999999', '01', '-1', 'x', '1.0'])
      expect((await deployment.call('GET', `/status-lists/${DOMAIN}/${number}`)).status).toBe(404);
    expect((await deployment.call('GET', '/status-lists/other.example/1')).status).toBe(404);
  });
});

/** Indexes of the set bits, leftmost first, decoded without the code under test. */
const onesOf = (encodedList: string): number[] => {
  const bytes = gunzipSync(Buffer.from(encodedList.slice(1), 'base64url'));
  expect([encodedList.charAt(0), bytes.length]).toEqual(['u', 131_072 / 8]);
  const ones: number[] = [];
  for (let i = 0; i < bytes.length * 8; i++) if (((bytes[i >> 3] ?? 0) >> (7 - (i & 7))) & 1) ones.push(i);
  return ones;
};
