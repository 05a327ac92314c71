/** `GET /audit` (interface §AuditEvent, §GET /audit). */
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import type { ContractCallOptions } from '../../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../../world/deployment.ts';
import { issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withOwnDeployment();
let orgId: string;
let orgAdmin: string;
let tenants: Tenants;
let foreign: Tenants;
let grantId: string;
let issuedKeyId: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  orgAdmin = await deployment.createKey('org:admin', orgId);
  tenants = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants();
  grantId = (await issueGrant(tenants)).grantId;
  await issueGrant(foreign);
  await post('/revoke', tenants.principalKey, { body: { grant_id: grantId } });
  const issued = await post('/api-keys', tenants.rpKey, { body: {} });
  issuedKeyId = String(issued.json.key_id);
  await post(`/api-keys/${issuedKeyId}/revoke`, orgAdmin, { headers: { 'x-request-id': 'one-of-mine' } });
});

const post = (path: string, key: string, options: ContractCallOptions = {}) =>
  deployment.call('POST', path, { key, ...options });

interface Event {
  readonly event_id: string;
  readonly occurred_at: string;
  readonly action: string;
  readonly target: string | null;
  readonly actor: { readonly kind: string; readonly did: string | null; readonly key_id: string | null };
}

/**
 * Sorts by the database's clock. The log is in the order of ids, which nodes date; their clocks may differ by
 * milliseconds.
 */
const byTime = (events: readonly Event[]) =>
  events.toSorted((one, other) => Date.parse(other.occurred_at) - Date.parse(one.occurred_at));
const audit = async (key: string, query: Readonly<Record<string, string>> = {}) => {
  const { status, json, text } = await deployment.call('GET', `/audit?${new URLSearchParams(query)}`, {
    key,
  });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const page = json as unknown as { readonly events: readonly Event[]; readonly next_cursor: string | null };
  const ids = page.events.map(({ event_id }) => event_id);
  expect(ids).toEqual(ids.toSorted().toReversed());
  return page;
};
const actions = async (key: string, query?: Readonly<Record<string, string>>) =>
  byTime((await audit(key, query)).events).map(({ action }) => action);
const keyIdOf = async (key: string) => (await deployment.call('GET', '/me', { key })).json.key_id;

describe('GET /audit lists, newest first,', () => {
  it('to a Principal key what the Principal did', async () => {
    expect(await actions(tenants.principalKey)).toEqual(['grant.revoke', 'grant.allocate']);
  });

  it('to an RP key what the relying party did', async () => {
    expect(await actions(tenants.rpKey)).toEqual(['api_key.create']);
  });

  it.each(['org:read', 'org:admin'] as const)(
    'to an %s key what the org and its members did and what was done to the members',
    async (role) => {
      expect(await actions(await deployment.createKey(role, orgId))).toEqual([
        'api_key.revoke',
        'api_key.create',
        'grant.revoke',
        'grant.allocate',
        'relying_party.create',
        'principal.create',
      ]);
    },
  );

  it("to the operator all events, including the operator's own", async () => {
    const { events } = await audit(ADMIN_TOKEN);
    expect(events.map(({ action }) => action).toSorted()).toEqual(
      [
        ...['principal.create', 'relying_party.create', 'grant.allocate'],
        ...['principal.create', 'relying_party.create', 'grant.allocate'],
        ...['grant.revoke', 'api_key.create', 'api_key.revoke'],
      ].toSorted(),
    );
    const created = events.find(({ target }) => target === tenants.principalDid);
    expect(created?.actor).toEqual({ kind: 'admin', did: null, key_id: null });
  });

  it.each(['principal', 'relying_party'] as const)(
    'after the transfer of a %s: to the new holder only its own acts, to each org only what happened in its time',
    async (kind) => {
      const [former, next] = [await deployment.createOrg(), await deployment.createOrg()];
      const [formerKey, nextKey] = [
        await deployment.createKey('org:admin', former),
        await deployment.createKey('org:admin', next),
      ];
      const did = `did:web:${randomSlug('moved')}.example`;
      const path = kind === 'principal' ? '/principals' : '/relying-parties';
      const { key } = await deployment.register(path, { kind: 'hosted', did, org_id: former });
      await post('/api-keys', key, { body: { label: 'of before' } });
      if (kind === 'principal') {
        const agent = agentFromJwk((await generateAgentKey()).privateJwk);
        expect((await post('/agents', key, { body: { did: agent.did } })).status).toBe(201);
        expect((await post('/grants', key, { body: { agent: agent.did } })).status).toBe(201);
      }
      const done = await actions(formerKey);
      expect(done).toContain('api_key.create');
      const moved = await post(`/claims/${did}/transfer`, ADMIN_TOKEN, { body: { kind, org_id: next } });
      expect(moved.status).toBe(200);

      const claim = kind === 'principal' ? 'principal.verify' : 'relying_party.update';
      // The org that a member has left still sees what the member did while it belonged to the org.
      expect(await actions(formerKey)).toEqual([claim, ...done]);
      expect(await actions(nextKey)).toEqual([claim]);
      const { json } = await post(`/api-keys?subject=${did}`, nextKey, { body: {} });
      const own = String(json.api_key);
      expect(await actions(own)).toEqual([]);
      await post('/api-keys', own, { body: {} });
      expect(await actions(own)).toEqual(['api_key.create']);
      expect(await actions(nextKey)).toEqual(['api_key.create', 'api_key.create', claim]);
    },
  );

  it('to a Principal and its org nothing of a relying party with the same DID, and the reverse', async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    const principal = await deployment.register('/principals', { kind: 'hosted', did, org_id: orgId });
    const rp = await deployment.register('/relying-parties', { kind: 'hosted', did });
    await post('/api-keys', rp.key, { body: {} });
    expect(await actions(principal.key)).toEqual([]);
    expect(await actions(rp.key)).toEqual(['api_key.create']);
    const seen = (await audit(await deployment.createKey('org:read', orgId))).events;
    expect(seen.filter((event) => event.actor.did === did)).toEqual([]);
  });
});

describe('An audit event', () => {
  it('has exactly the members of AuditEvent and contains no key', async () => {
    const { events } = await audit(ADMIN_TOKEN, { target: issuedKeyId });
    expect(byTime(events)).toEqual([
      {
        event_id: expect.stringMatching(/^aud_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        actor: { kind: 'org', did: orgId, key_id: await keyIdOf(orgAdmin) },
        action: 'api_key.revoke',
        target: issuedKeyId,
        request_id: 'one-of-mine',
        details: { subject: tenants.rpDid, role: 'rp' },
      },
      expect.objectContaining({
        actor: { kind: 'rp', did: tenants.rpDid, key_id: await keyIdOf(tenants.rpKey) },
        action: 'api_key.create',
        request_id: expect.any(String),
      }),
    ]);
  });

  it('is written once for a revocation, even for concurrent calls', async () => {
    const { key_id: keyId } = (await post('/api-keys', foreign.rpKey, { body: {} })).json;
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => post(`/api-keys/${keyId}/revoke`, foreign.rpKey)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await actions(ADMIN_TOKEN, { target: String(keyId) })).toEqual([
      'api_key.revoke',
      'api_key.create',
    ]);
  });

  it('is not written for a refused call', async () => {
    const before = await audit(ADMIN_TOKEN);
    await post(`/api-keys/${issuedKeyId}/revoke`, foreign.rpKey);
    await post('/api-keys?subject=did:web:nobody.example', ADMIN_TOKEN, { body: {} });
    await post('/observer-keys', ADMIN_TOKEN, { body: { label: 1 } });
    expect(await audit(ADMIN_TOKEN)).toEqual(before);
  });
});

describe('The query of GET /audit', () => {
  it('filters by action, target and actor', async () => {
    expect(await actions(orgAdmin, { action: 'grant.revoke' })).toEqual(['grant.revoke']);
    expect(await actions(orgAdmin, { target: grantId })).toEqual(['grant.revoke', 'grant.allocate']);
    expect(await actions(orgAdmin, { target: 'nothing' })).toEqual([]);
    expect(await actions(ADMIN_TOKEN, { actor: orgId })).toEqual(['api_key.revoke']);
    expect(await actions(ADMIN_TOKEN, { actor: tenants.principalDid })).toEqual([
      'grant.revoke',
      'grant.allocate',
    ]);
  });

  it('includes since and excludes until, at the millisecond that an event shows', async () => {
    const [revoked, allocated] = byTime((await audit(tenants.principalKey)).events);
    const [first, second] = [allocated?.occurred_at ?? '', revoked?.occurred_at ?? ''];
    const seen = (query: Readonly<Record<string, string>>) => actions(tenants.principalKey, query);
    expect(await seen({ since: first })).toEqual(['grant.revoke', 'grant.allocate']);
    expect(await seen({ since: second })).toEqual(['grant.revoke']);
    expect(await seen({ until: second })).toEqual(['grant.allocate']);
    expect(await seen({ since: first, until: first })).toEqual([]);
    expect(await seen({ since: '2000-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' })).toHaveLength(2);
  });

  it('returns each event once across pages, also while events are written', async () => {
    const whole = (await audit(ADMIN_TOKEN, { limit: '200' })).events;
    const paged: Event[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await audit(ADMIN_TOKEN, { limit: '2', ...(cursor === '' ? {} : { cursor }) });
      paged.push(...page.events);
      cursor = page.next_cursor;
      await issueGrant(foreign);
    }
    expect(paged).toEqual(whole);
  });

  it.each([
    'action=nothing.done',
    'action=grant',
    'actor=me',
    'target=',
    'since=yesterday',
    'since=2026-02-30T00:00:00Z',
    'until=2026-11-20',
    'until=2026-11-20T24:00:00Z',
    'limit=0',
    'limit=201',
    'cursor=x',
    `cursor=${Buffer.from('aud_1').toString('base64url')}`,
    'unknown=1',
    'action=grant.revoke&action=grant.revoke',
  ])('is refused with 400: %s', async (query) => {
    expect((await deployment.call('GET', `/audit?${query}`, { key: ADMIN_TOKEN })).status).toBe(400);
  });
});

describe('GET /audit with an org key', () => {
  it('lists what the operator did to members while they were members, and nothing of other orgs', async () => {
    const memberOrg = await deployment.createOrg();
    const orgKey = await deployment.createKey('org:read', memberOrg);
    const member = await deployment.createTenants({ orgId: memberOrg });
    const outside = await deployment.createTenants();
    for (const { rpDid, principalDid } of [member, outside]) {
      await deployment.call('PATCH', `/relying-parties/${rpDid}`, {
        key: ADMIN_TOKEN,
        body: { name: 'Shop' },
      });
      await post(`/principals/${principalDid}/verify`, ADMIN_TOKEN);
      await post(`/api-keys?subject=${principalDid}`, ADMIN_TOKEN, { body: {} });
    }
    await post(`/orgs/${memberOrg}/api-keys`, ADMIN_TOKEN, { body: { role: 'read' } });
    expect(await actions(orgKey)).toEqual([
      'api_key.create',
      'api_key.create',
      'principal.verify',
      'relying_party.update',
      'relying_party.create',
      'principal.create',
    ]);
    await post(`/orgs/${memberOrg}/members`, ADMIN_TOKEN, { body: { did: outside.rpDid } });
    expect(await actions(orgKey)).toHaveLength(6);
    // A member itself sees what it did, not what others did to it.
    expect(await actions(member.rpKey)).toEqual([]);
  });
});
