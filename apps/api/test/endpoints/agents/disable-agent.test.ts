/** `POST /agents/{did}/disable`, the kill switch (interface §Agent, §Principal lifecycle; protocol §9). */
import { gunzipSync } from 'node:zlib';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { withSession } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let foreign: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  foreign = await deployment.createTenants();
});

const newAgent = async () => agentFromJwk((await generateAgentKey()).privateJwk);
const register = (key: string, body: unknown, query = '') =>
  deployment.call('POST', `/agents${query}`, { key, body });
const disable = (did: string, key: string, query = '') =>
  deployment.call('POST', `/agents/${encodeURIComponent(did)}/disable${query}`, { key });
const allocate = async (key: string, agent: string): Promise<string> =>
  String((await deployment.call('POST', '/grants', { key, body: { agent } })).json.id);
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const reasonOf = async (tenants: Tenants, body: unknown): Promise<string> => {
  const { decision, reason } = receiptOf(
    await deployment.call('POST', '/verify', { key: tenants.rpKey, body }),
  );
  return reason ?? decision;
};

const auditOf = async (target: string) =>
  (
    await deployment.sql.query(
      'select action, actor_kind, actor_did, details from audit_events where target = $1 order by occurred_at, ctid',
      [target],
    )
  ).rows;

const summariesOf = async (key: string, query = '') =>
  (await deployment.call('GET', `/grants?limit=200${query}`, { key })).json.grants as readonly {
    id: string;
    state: string;
    revoked_at: string | null;
    status_list: string;
    status_list_index: number;
  }[];

describe('POST /agents/{did}/disable (the kill switch)', () => {
  it('revokes every Grant of this Principal for the Agent, and no other Grant', async () => {
    const tenants = await deployment.createTenants();
    const grants = [await issueGrant(tenants), await issueGrant(tenants), await issueGrant(tenants)];
    const bodies = await Promise.all(grants.map((grant) => verifyBody(tenants, grant)));
    const other = { ...tenants, agent: await newAgent() };
    const kept = await issueGrant(other);
    const keptByForeign = { ...foreign, agent: tenants.agent };
    const foreignGrant = await issueGrant(keptByForeign);
    expect(await reasonOf(tenants, bodies[0])).toBe('ALLOW');

    const { status, json } = await disable(tenants.agent.did, tenants.principalKey);
    expect([status, json]).toEqual([
      200,
      {
        did: tenants.agent.did,
        disabled_at: timestamp,
        revoked_grants: grants.map(({ grantId }) => grantId).sort(),
      },
    ]);
    for (const body of bodies.slice(1)) expect(await reasonOf(tenants, body)).toBe('AUTHORITY_REVOKED');
    expect(await reasonOf(other, await verifyBody(other, kept))).toBe('ALLOW');
    expect(await reasonOf(keptByForeign, await verifyBody(keptByForeign, foreignGrant))).toBe('ALLOW');
    for (const summary of await summariesOf(tenants.principalKey, `&agent=${tenants.agent.did}`))
      expect(summary).toMatchObject({ state: 'revoked', revoked_at: json.disabled_at });
  });

  it('writes one audit event with the number of Grants and signs the status list once, with exactly their bits set', async () => {
    const tenants = await deployment.createTenants();
    for (let i = 0; i < 4; i++) await allocate(tenants.principalKey, tenants.agent.did);
    await allocate(tenants.principalKey, (await newAgent()).did);
    const versionOf = async () =>
      (
        await deployment.sql.query('select version from status_lists where principal = $1', [
          tenants.principalDid,
        ])
      ).rows.map(({ version }) => Number(version));
    expect(await versionOf()).toEqual([1]);
    await disable(tenants.agent.did, tenants.principalKey);
    expect(await versionOf()).toEqual([2]);
    expect(await auditOf(tenants.agent.did)).toEqual([
      {
        action: 'agent.disable',
        actor_kind: 'principal',
        actor_did: tenants.principalDid,
        details: { principal: tenants.principalDid, revoked_grants: 4, status_lists: 1 },
      },
    ]);
    const summaries = await summariesOf(tenants.principalKey);
    const revoked = summaries.filter(({ state }) => state === 'revoked');
    expect(revoked).toHaveLength(4);
    const { pathname } = new URL(revoked[0]?.status_list ?? '');
    const { text } = await deployment.call('GET', pathname);
    expect(onesOf(text)).toEqual(revoked.map(({ status_list_index: index }) => index).sort((a, b) => a - b));
  });

  it('is idempotent, and keeps the time of Grants that were revoked individually before', async () => {
    const tenants = await deployment.createTenants();
    const first = await issueGrant(tenants);
    const { json: revocation } = await deployment.call('POST', '/revoke', {
      key: tenants.principalKey,
      body: { grant_id: first.grantId },
    });
    const second = await issueGrant(tenants);
    const done = await disable(tenants.agent.did, tenants.principalKey);
    expect(done.json.revoked_grants).toEqual([first.grantId, second.grantId].sort());
    const again = await Promise.all(
      Array.from({ length: 5 }, () => disable(tenants.agent.did, tenants.principalKey)),
    );
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set([done.text]));
    expect(await auditOf(tenants.agent.did)).toMatchObject([{ details: { revoked_grants: 1 } }]);
    const revokedAt = Object.fromEntries(
      (await summariesOf(tenants.principalKey)).map(({ id, revoked_at: at }) => [id, at]),
    );
    expect(revokedAt).toEqual({
      [first.grantId]: revocation.revoked_at,
      [second.grantId]: done.json.disabled_at,
    });
  });

  it('locks only Grants that are new since the last call: a repeat is not blocked by locks on the old ones', async () => {
    const tenants = await deployment.createTenants();
    const old: string[] = [];
    for (let i = 0; i < 3; i++) old.push(await allocate(tenants.principalKey, tenants.agent.did));
    const first = await disable(tenants.agent.did, tenants.principalKey);
    await withSession(deployment.databaseUrl, async (session) => {
      await session.query('begin');
      await session.query('select from grants where id = any ($1::text[]) for update', [old]);
      const fresh = await allocate(tenants.principalKey, tenants.agent.did);
      const second = await disable(tenants.agent.did, tenants.principalKey);
      expect([second.status, second.json.revoked_grants]).toEqual([200, [...old, fresh].sort()]);
      await session.query('select from principals where did = $1 for update', [tenants.principalDid]);
      const third = await disable(tenants.agent.did, tenants.principalKey);
      expect([third.status, third.text]).toEqual([200, second.text]);
      await session.query('rollback');
    });
    expect(first.json.revoked_grants).toEqual(old.sort());
    const audited = (await auditOf(tenants.agent.did)).map(({ details }) => details.revoked_grants);
    expect(audited).toEqual([3, 1]);
  });

  it('revokes once for six concurrent calls, with one audit event', async () => {
    const tenants = await deployment.createTenants();
    for (let i = 0; i < 10; i++) await allocate(tenants.principalKey, tenants.agent.did);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => disable(tenants.agent.did, tenants.principalKey)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(new Set(answers.map(({ json }) => JSON.stringify(json.revoked_grants))).size).toBe(1);
    expect(await auditOf(tenants.agent.did)).toHaveLength(1);
  });

  it('and concurrent single revocations of the same Grants all answer 200, and each Grant is audited once', async () => {
    const tenants = await deployment.createTenants();
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push(await allocate(tenants.principalKey, tenants.agent.did));
    const answers = await Promise.all([
      ...ids
        .reverse()
        .map((grantId) =>
          deployment.call('POST', '/revoke', { key: tenants.principalKey, body: { grant_id: grantId } }),
        ),
      disable(tenants.agent.did, tenants.principalKey),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(13).fill(200));
    const { rows } = await deployment.sql.query(
      `select coalesce(sum(case action when 'grant.revoke' then 1 else (details->>'revoked_grants')::int end), 0)::int as n
       from audit_events where action in ('grant.revoke', 'agent.disable') and (target = any ($1) or target = $2)`,
      [ids, tenants.agent.did],
    );
    expect(rows).toEqual([{ n: 12 }]);
  });

  it('disables a registered Agent without Grants; Grants allocated later are revoked only by another call', async () => {
    const tenants = await deployment.createTenants();
    await register(tenants.principalKey, { did: tenants.agent.did });
    const first = await disable(tenants.agent.did, tenants.principalKey);
    expect(first.json).toEqual({ did: tenants.agent.did, disabled_at: timestamp, revoked_grants: [] });
    expect((await disable(tenants.agent.did, tenants.principalKey)).text).toBe(first.text);
    const grant = await issueGrant(tenants);
    expect(await reasonOf(tenants, await verifyBody(tenants, grant))).toBe('ALLOW');
    const second = await disable(tenants.agent.did, tenants.principalKey);
    expect(second.json.revoked_grants).toEqual([grant.grantId]);
    expect(Date.parse(String(second.json.disabled_at))).toBeGreaterThan(
      Date.parse(String(first.json.disabled_at)),
    );
    expect((await auditOf(tenants.agent.did)).map(({ action }) => action)).toEqual([
      'agent.register',
      'agent.disable',
      'agent.disable',
    ]);
    expect((await register(tenants.principalKey, { did: tenants.agent.did })).status).toBe(409);
  });

  it('answers 503 while a decision holds the barrier: the Grant is denied already, and a repeat completes the call', async () => {
    const tenants = await deployment.createTenants();
    await register(tenants.principalKey, { did: tenants.agent.did });
    const grant = await issueGrant(tenants);
    await deployment.whileBarrierIsHeld(tenants.principalDid, async () => {
      const { status, json } = await disable(tenants.agent.did, tenants.principalKey);
      expect([status, json.error]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(await reasonOf(tenants, await verifyBody(tenants, grant))).toBe('AUTHORITY_REVOKED');
      expect(await summariesOf(tenants.principalKey)).toMatchObject([{ state: 'revoked', revoked_at: null }]);
    });
    const { status, json } = await disable(tenants.agent.did, tenants.principalKey);
    expect([status, json.revoked_grants]).toEqual([200, [grant.grantId]]);
    expect(await summariesOf(tenants.principalKey)).toMatchObject([{ revoked_at: json.disabled_at }]);
    expect((await auditOf(tenants.agent.did)).map(({ action }) => action)).toEqual([
      'agent.register',
      'agent.disable',
    ]);
  });

  it('when repeated after an interruption, sets revoked_at on the Grants that lack it', async () => {
    const tenants = await deployment.createTenants();
    for (let i = 0; i < 6; i++) await allocate(tenants.principalKey, tenants.agent.did);
    const done = await disable(tenants.agent.did, tenants.principalKey);
    const unstamped = (done.json.revoked_grants as string[]).slice(3);
    await deployment.sql.query('update grants set revoked_at = null where id = any ($1)', [unstamped]);
    const again = await disable(tenants.agent.did, tenants.principalKey);
    expect(again.json.revoked_grants).toEqual(done.json.revoked_grants);
    for (const { id, revoked_at: at } of await summariesOf(tenants.principalKey))
      expect(at).toBe((unstamped.includes(id) ? again : done).json.disabled_at);
    expect(await auditOf(tenants.agent.did)).toHaveLength(1);
  });

  it('answers 404 to an Agent of another Principal exactly as to an unknown one', async () => {
    const { principalKey } = await deployment.createTenants();
    const { did } = foreign.agent;
    await issueGrant(foreign);
    const absent = (await newAgent()).did;
    const seen = await disable(did, principalKey);
    const none = await disable(absent, principalKey);
    expect([seen.status, seen.text.replaceAll(did, '')]).toEqual([404, none.text.replaceAll(absent, '')]);
    for (const malformed of ['x', 'did:key:z6Mk', foreign.principalDid, `${absent}\u0000`])
      expect((await disable(malformed, principalKey)).status).toBe(404);
  });

  it('accepts an org:admin key for the member it names; other keys are refused and revoke nothing', async () => {
    const tenants = await deployment.createTenants({ orgId });
    const grant = await issueGrant(tenants);
    const named = `?principal=${tenants.principalDid}`;
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    const orgRead = await deployment.createKey('org:read', orgId);
    const otherAdmin = await deployment.createKey('org:admin', await deployment.createOrg());
    const { did } = tenants.agent;
    expect((await disable(did, orgAdmin)).status).toBe(400);
    expect((await disable(did, orgRead, named)).status).toBe(403);
    expect((await disable(did, otherAdmin, named)).status).toBe(404);
    expect((await disable(did, foreign.principalKey, named)).status).toBe(403);
    expect((await disable(did, tenants.rpKey)).status).toBe(401);
    expect(await reasonOf(tenants, await verifyBody(tenants, grant))).toBe('ALLOW');
    expect((await disable(did, orgAdmin, named)).json.revoked_grants).toEqual([grant.grantId]);
    expect(await auditOf(did)).toMatchObject([{ actor_kind: 'org', actor_did: orgId }]);
  });
});

/** Indexes of the set bits, leftmost first, decoded without the code under test. */
const onesOf = (credential: string): number[] => {
  const payload = JSON.parse(Buffer.from(credential.split('.')[1] ?? '', 'base64url').toString());
  const bytes = gunzipSync(Buffer.from(payload.credentialSubject.encodedList.slice(1), 'base64url'));
  const ones: number[] = [];
  for (let i = 0; i < bytes.length * 8; i++) if (((bytes[i >> 3] ?? 0) >> (7 - (i & 7))) & 1) ones.push(i);
  return ones;
};

describe('An allocation under way while POST /agents/{did}/disable is called', () => {
  it('completes first, and its Grant is revoked too', async () => {
    const { principalDid, principalKey } = await deployment.createTenants();
    const { did } = await newAgent();
    const early = await allocate(principalKey, did);
    await deployment.sql.query('begin');
    await deployment.sql.query('select from status_lists where principal = $1 for update', [principalDid]);
    const allocating = allocate(principalKey, did);
    await deployment.untilWaiting(1);
    const disabling = disable(did, principalKey);
    await deployment.untilWaiting(2);
    await deployment.sql.query('commit');
    const late = await allocating;
    const { status, json } = await disabling;
    expect([status, json.revoked_grants]).toEqual([200, [early, late].sort()]);
  });
});
