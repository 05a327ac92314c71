/**
 * The client libraries against a running service: every call that other tests with Grants and verdicts do not cover.
 */
import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { createVerifier } from '@svc/sdk-rp';
import { withDatabase } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, DOMAIN, startApiNodes } from '../world/api-node.ts';
import { contractFetch } from '../world/contract-call.ts';
import { ACTION, callJson } from '../world/tenants.ts';

const database = withDatabase();
let api: ApiNodes;

beforeAll(async () => {
  api = await startApiNodes(1, database.url);
});
afterAll(() => api?.stop());

const baseUrl = () => api.processes[0]?.baseUrl ?? '';
const register = (path: string, body: object) =>
  callJson<{ did: string; api_key: string }>(baseUrl(), 'POST', path, { key: ADMIN_TOKEN, body });

const createPrincipal = async (slug: string, orgId?: string) => {
  const keys = [await generatePrincipalKey(), await generatePrincipalKey()];
  const registrations = keys.map(({ registration }) => registration);
  const { did, api_key: apiKey } = await register('/principals', {
    kind: 'managed',
    slug,
    keys: registrations,
    ...(orgId === undefined ? {} : { org_id: orgId }),
  });
  const clientOf = (keyNumber: number, key = apiKey) => {
    const jwk = keys[keyNumber - 1]?.privateJwk;
    if (jwk === undefined) throw new Error(`no key ${keyNumber}`);
    const signer = signerFromJwk(jwk, `${did}#key-${keyNumber}`);
    return createPrincipalClient({ baseUrl: baseUrl(), apiKey: key, signer, fetch: contractFetch });
  };
  return { did, apiKey, clientOf, client: clientOf(1) };
};

const createRelyingParty = async (slug: string) => {
  const { did, api_key: apiKey } = await register('/relying-parties', { kind: 'managed', slug });
  const verifierOf = (key = apiKey) =>
    createVerifier({
      baseUrl: baseUrl(),
      apiKey: key,
      serviceDid: `did:web:${DOMAIN}`,
      fetch: contractFetch,
    });
  return { did, apiKey, verifierOf, verifier: verifierOf() };
};

const createAgent = async () => agentFromJwk((await generateAgentKey()).privateJwk);
const request = { method: 'POST', url: 'https://shop.example/orders' };
const capabilities = [purchase({ maxAmountMinor: 1000, currency: 'USD', resources: ['order/*'] })];

type Shop = Awaited<ReturnType<typeof createRelyingParty>>;
type HeldGrant = { grant: string; grantId: string };

/** Resolves with `ALLOW` or the reason of the DENY. */
const outcomeOf = async (shop: Shop, agent: Awaited<ReturnType<typeof createAgent>>, held: HeldGrant) => {
  const { grant, grantId } = held;
  const proof = await signProof({ agent, grantId, audience: shop.did, action: ACTION, ...request });
  const verdict = await shop.verifier.verify({ grant, proof, action: ACTION, request });
  return verdict.allowed ? 'ALLOW' : verdict.reason;
};

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

describe('the Principal client', () => {
  it('disables an Agent: the answer lists all its Grants, and each is denied with AUTHORITY_REVOKED afterwards', async () => {
    const { client, did } = await createPrincipal('disabling');
    const shop = await createRelyingParty('disabling');
    const agent = await createAgent();
    expect(await client.agents.register(agent.did)).toMatchObject({ did: agent.did, principal: did });
    await expect(client.agents.register(agent.did)).rejects.toMatchObject({ code: 'CONFLICT' });
    const grants: HeldGrant[] = [];
    for (let i = 0; i < 3; i++) grants.push(await client.grants.issue({ agent: agent.did, capabilities }));
    const unaffected = await createAgent();
    const other = await client.grants.issue({ agent: unaffected.did, capabilities });
    for (const held of grants) expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    const { revokedGrants } = await client.agents.disable(agent.did);
    expect([...revokedGrants].sort()).toEqual(grants.map(({ grantId }) => grantId).sort());
    for (const held of grants) expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
    expect(await outcomeOf(shop, unaffected, other)).toBe('ALLOW');
    expect((await client.agents.disable(agent.did)).revokedGrants).toEqual(revokedGrants);
  });

  it('retires a key: Grants that it signed before stay valid, Grants allocated later are denied', async () => {
    const { clientOf, did } = await createPrincipal('retiring');
    const shop = await createRelyingParty('retiring');
    const agent = await createAgent();
    const [old, next] = [clientOf(1), clientOf(2)];
    const before = await old.grants.issue({ agent: agent.did, capabilities });
    const kid = `${did}#key-1`;
    expect(await old.keys.retire(kid)).toEqual({ kid, state: 'retired' });
    const after = await old.grants.issue({ agent: agent.did, capabilities });
    expect(await outcomeOf(shop, agent, before)).toBe('ALLOW');
    expect(await outcomeOf(shop, agent, after)).not.toBe('ALLOW');
    expect(await outcomeOf(shop, agent, await next.grants.issue({ agent: agent.did, capabilities }))).toBe(
      'ALLOW',
    );
  });

  it('marks a key compromised: Grants that it signed are denied, and the state cannot be changed back to retired', async () => {
    const { clientOf, did, client } = await createPrincipal('compromised');
    const shop = await createRelyingParty('compromised');
    const agent = await createAgent();
    const stolen = await client.grants.issue({ agent: agent.did, capabilities });
    const sound = await clientOf(2).grants.issue({ agent: agent.did, capabilities });
    expect(await outcomeOf(shop, agent, stolen)).toBe('ALLOW');
    const kid = `${did}#key-1`;
    expect(await client.keys.compromise(kid)).toEqual({ kid, state: 'compromised' });
    expect(await outcomeOf(shop, agent, stolen)).toBe('ISSUER_KEY_COMPROMISED');
    expect(await outcomeOf(shop, agent, sound)).toBe('ALLOW');
    expect(await client.keys.retire(kid)).toEqual({ kid, state: 'compromised' });
    expect((await client.me()).keys).toEqual([
      { kid, state: 'compromised' },
      { kid: `${did}#key-2`, state: 'active' },
    ]);
  });

  it('pauses and resumes a Grant, an Agent and its Principal', async () => {
    const { client, did } = await createPrincipal('pausing');
    const shop = await createRelyingParty('pausing');
    const agent = await createAgent();
    const held = await client.grants.issue({ agent: agent.did, capabilities });
    const targets = [
      { scope: 'grant', subject: held.grantId },
      { scope: 'agent', subject: agent.did },
      { scope: 'principal', subject: did },
    ] as const;
    for (const target of targets) {
      const reused: { scope: 'grant' | 'agent' | 'principal'; subject: string } = { ...target };
      const pausing = client.pauses.pause(reused, { reason: 'too much' });
      // The request as it was sent is decisive, even if the caller changes the object before the answer.
      reused.subject = 'another';
      const paused = await pausing;
      expect(paused).toMatchObject({ ...target, reason: 'too much', paused_at: expect.any(String) });
      expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
      expect(await collect(client.pauses.list())).toEqual([paused]);
      expect(await client.pauses.resume(target)).toEqual({ ...target, resumedAt: expect.any(String) });
      expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    }
    expect((await client.pauses.page()).pauses).toEqual([]);
  });

  it('with an org key pauses and resumes a Grant and an Agent of a member, the member, and the org', async () => {
    const { org_id: orgId } = await callJson<{ org_id: string }>(baseUrl(), 'POST', '/orgs', {
      ...{ key: ADMIN_TOKEN, body: { slug: 'stopping', name: 'Stopping' } },
    });
    const { api_key: apiKey } = await register(`/orgs/${orgId}/api-keys`, { role: 'admin' });
    const org = createPrincipalClient({ baseUrl: baseUrl(), apiKey, fetch: contractFetch });
    const { client, did: principal } = await createPrincipal('stopped-member', orgId);
    const [shop, agent] = [await createRelyingParty('stopped-at'), await createAgent()];
    const held = await client.grants.issue({ agent: agent.did, capabilities });
    const targets = [
      { scope: 'grant', subject: held.grantId, principal },
      { scope: 'agent', subject: agent.did, principal },
      { scope: 'principal', subject: principal },
      { scope: 'org', subject: orgId },
    ] as const;
    for (const target of targets) {
      const { scope, subject } = target;
      expect(await org.pauses.pause(target)).toMatchObject({ scope, subject });
      expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
      await org.pauses.resume(target);
      expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    }
    const misspelt = { ...targets[0], principle: principal };
    await expect(org.pauses.pause(misspelt)).rejects.toMatchObject({ kind: 'invalid-argument' });
  });

  it('lists, filters, reads and counts the decisions on its Grants', async () => {
    const { client, did } = await createPrincipal('reading');
    const [shop, agent] = [await createRelyingParty('reading'), await createAgent()];
    const held = await client.grants.issue({ agent: agent.did, capabilities });
    for (let i = 0; i < 3; i++) expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    await client.grants.revoke(held.grantId);
    expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
    const listed = await collect(client.decisions.list({ limit: 2, rp: shop.did, grantId: held.grantId }));
    expect(listed.map(({ reason }) => reason)).toEqual(['AUTHORITY_REVOKED', null, null, null]);
    expect(await collect(client.decisions.list({ decision: 'DENY', since: new Date(0) }))).toHaveLength(1);
    for (const { receipt_id: id } of listed)
      expect(await client.decisions.get(id)).toEqual({ ...(await shop.verifier.decisions.get(id)) });
    expect(await client.decisions.stats()).toMatchObject({
      totals: { verifies: 4, allow: 3 },
      principals: [{ principal: did, reasons: { AUTHORITY_REVOKED: 1 } }],
    });
  });

  it('cannot compromise a key of another Principal', async () => {
    const { client } = await createPrincipal('meddling');
    const { did } = await createPrincipal('meddled');
    await expect(client.keys.compromise(`${did}#key-1`)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('requests the verification of its domain, and reads its own record', async () => {
    const { client, did } = await createPrincipal('verifying');
    expect(await client.principals.verify()).toMatchObject({ did, verification: { state: 'verified' } });
    expect(await client.principals.get()).toMatchObject({ did, kind: 'managed' });
  });
});

it('the verifier pauses and resumes the decisions of its relying party', async () => {
  const { client } = await createPrincipal('switching');
  const shop = await createRelyingParty('switching');
  const agent = await createAgent();
  const held = await client.grants.issue({ agent: agent.did, capabilities });
  const paused = await shop.verifier.relyingParty.pause({ reason: 'stock-taking' });
  expect(paused).toMatchObject({ scope: 'relying_party', subject: shop.did, reason: 'stock-taking' });
  expect(await outcomeOf(shop, agent, held)).toBe('SERVICE_UNAVAILABLE');
  expect(await collect(shop.verifier.relyingParty.pauses())).toEqual([paused]);
  expect(await shop.verifier.relyingParty.resume()).toEqual({ resumedAt: expect.any(String) });
  expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
});

describe('the decisions of a relying party', () => {
  it('are the same in the list, in pages, in single reads and in the exports, with Receipts and outcomes', async () => {
    const { client, did } = await createPrincipal('deciding');
    const shop = await createRelyingParty('deciding');
    const agent = await createAgent();
    const held = await client.grants.issue({ agent: agent.did, capabilities });
    for (let i = 0; i < 3; i++) expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    await client.grants.revoke(held.grantId);
    expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
    const { decisions, outcomes } = shop.verifier;
    const listed = await collect(decisions.list({ limit: 3 }));
    expect(listed.map(({ decision, reason }) => reason ?? decision)).toEqual([
      'AUTHORITY_REVOKED',
      'ALLOW',
      'ALLOW',
      'ALLOW',
    ]);
    expect(await decisions.page({ reason: 'AUTHORITY_REVOKED', principal: did })).toEqual({
      decisions: listed.slice(0, 1),
      next_cursor: null,
    });
    const last = listed[3]?.receipt_id ?? '';
    await outcomes.report(last, { type: 'fulfilled', occurred_at: new Date().toISOString() });
    const exported = await collect(decisions.export({ limit: 3, grantId: held.grantId }));
    expect(exported).toHaveLength(4);
    for (const [i, { receipt, outcomes: ledger, ...summary }] of exported.entries()) {
      expect(summary).toEqual(listed[i]);
      expect({ receipt, outcomes: ledger }).toEqual(await decisions.get(summary.receipt_id));
    }
    const csv = (await collect(decisions.exportCsv({ limit: 3 }))).join('');
    expect(csv.split('\r\n').map((line) => line.slice(1, 31))).toEqual([
      expect.stringMatching(/^receipt_id"/),
      ...listed.map(({ receipt_id }) => receipt_id),
      '',
    ]);
    expect(await collect(decisions.list({ until: new Date(0) }))).toEqual([]);
  });
});

describe('a dry run', () => {
  it('returns every failed check, has no member named allowed, and does not spend the Proof', async () => {
    const { client } = await createPrincipal('dry');
    const shop = await createRelyingParty('dry');
    const agent = await createAgent();
    await client.agents.register(agent.did);
    const { grant, grantId } = await client.grants.issue({ agent: agent.did, capabilities });
    const proof = await signProof({ agent, grantId, audience: shop.did, action: ACTION, ...request });
    const run = await shop.verifier.dryRun({ grant, proof, action: ACTION });
    expect(run).toMatchObject({ would: 'allow', failed: [], grant_id: grantId, agent: agent.did });
    expect(run).not.toHaveProperty('allowed');
    const dearer = await shop.verifier.dryRun({ grant, proof, action: { ...ACTION, amount: 5_000 } });
    expect(dearer.failed.map(({ check }) => check)).toEqual(['P14', 'P19']);
    const verdict = await shop.verifier.verify({ grant, proof, action: ACTION, request });
    expect(verdict.allowed).toBe(true);
  });
});

describe('the directory', () => {
  it('lists every Principal once over several pages, for a Principal key and a relying-party key', async () => {
    const dids: string[] = [];
    for (const slug of ['dir-a', 'dir-b', 'dir-c']) dids.push((await createPrincipal(slug)).did);
    const { client } = await createPrincipal('dir-d');
    const { verifier } = await createRelyingParty('dir');
    for (const { directory } of [client, verifier]) {
      const listed = (await collect(directory.list({ kind: 'managed', limit: 2 }))).map(({ did }) => did);
      expect(listed).toEqual([...new Set(listed)].sort());
      expect(listed).toEqual(expect.arrayContaining(dids));
    }
    expect(await collect(verifier.directory.list({ kind: 'hosted' }))).toEqual([]);
  });

  it('returns the full record to the Principal itself, and the public entry to others', async () => {
    const { client, did } = await createPrincipal('looking');
    const { verifier } = await createRelyingParty('looking');
    expect(await client.directory.get(did)).toHaveProperty('verification.dns_txt');
    const entry = await verifier.directory.get(did);
    expect(entry.keys.map(({ kid, state }) => [kid, state])).toEqual([
      [`${did}#key-1`, 'active'],
      [`${did}#key-2`, 'active'],
    ]);
    expect(entry.verification).toMatchObject({ state: 'verified', method: 'svc-hosted' });
    const absent = `did:web:${DOMAIN}:org:nobody`;
    await expect(verifier.directory.get(absent)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('API keys', () => {
  it('of a Principal can be rotated: a second key is issued and revokes the first', async () => {
    const { clientOf, client, did } = await createPrincipal('rotating');
    const issued = await client.apiKeys.issue({ label: 'second' });
    expect(issued).toMatchObject({ subject: did, role: 'principal', label: 'second', revoked_at: null });
    const second = clientOf(1, issued.api_key);
    expect(await second.me()).toMatchObject({ subject: did, key_id: issued.key_id });
    const first = (await client.me()).key_id;
    expect((await second.apiKeys.revoke(first)).keyId).toBe(first);
    await expect(client.me()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const { keys } = await second.apiKeys.list();
    expect(keys.map(({ key_id, revoked_at }) => [key_id, revoked_at === null])).toEqual([
      [issued.key_id, true],
      [first, false],
    ]);
    expect(JSON.stringify(keys)).not.toContain('dk_principal_');
  });

  it('of a relying party can be rotated too; the new key reads the settings of the relying party', async () => {
    const { verifier, verifierOf, did } = await createRelyingParty('rotating');
    const issued = await verifier.apiKeys.issue();
    expect(issued).toMatchObject({ subject: did, role: 'rp', label: null });
    const second = verifierOf(issued.api_key);
    await second.apiKeys.revoke((await verifier.me()).key_id);
    await expect(verifier.relyingParty.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await second.relyingParty.get()).toMatchObject({ did, proof_window_seconds: 60 });
  });

  it('of another subject are NOT_FOUND, like keys that do not exist', async () => {
    const { client } = await createPrincipal('key-a');
    const other = (await (await createPrincipal('key-b')).client.me()).key_id;
    for (const keyId of [other, '000000000000'])
      await expect(client.apiKeys.revoke(keyId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('counts of decisions', () => {
  it('are the same for the relying party and for the Principal, by day and by key', async () => {
    const { client, did } = await createPrincipal('counted');
    const shop = await createRelyingParty('counted');
    const agent = await createAgent();
    const held = await client.grants.issue({ agent: agent.did, capabilities });
    expect(await outcomeOf(shop, agent, held)).toBe('ALLOW');
    await client.grants.revoke(held.grantId);
    expect(await outcomeOf(shop, agent, held)).toBe('AUTHORITY_REVOKED');
    const since = new Date(Date.now() - 3_600_000);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const { key_id: keyId } = await shop.verifier.me();
    const counts = { verifies: 2, allow: 1, deny: 1 };
    for (const usage of [
      await shop.verifier.usage({ since, until, by: 'key', keyId }),
      await client.usage({ since, until, by: 'key', rp: shop.did }),
    ]) {
      expect(usage).toMatchObject({ totals: counts, rp: shop.did });
      const [day] = usage.days.filter(({ verifies }) => verifies > 0);
      expect(day).toMatchObject({ reasons: { AUTHORITY_REVOKED: 1 }, keys: { [keyId]: counts } });
    }
    const { principals } = await shop.verifier.decisions.stats({ since, until, principal: did });
    expect(principals).toMatchObject([{ principal: did, ...counts, outcomes: {}, allow_with_outcome: 0 }]);
  });
});

describe('the audit log', () => {
  it('lists the actions of a Principal, newest first, and filters them by action, target and time', async () => {
    const { client, did } = await createPrincipal('audited');
    const agent = await createAgent();
    await client.agents.register(agent.did);
    const { grantId } = await client.grants.issue({ agent: agent.did, capabilities });
    await client.grants.revoke(grantId);
    await client.apiKeys.issue();
    const events = await collect(client.audit.list({ limit: 1 }));
    expect(events.map(({ action }) => action)).toEqual([
      'api_key.create',
      'grant.revoke',
      'grant.allocate',
      'agent.register',
    ]);
    expect(new Set(events.map(({ actor }) => actor.did))).toEqual(new Set([did]));
    const revoked = await collect(client.audit.list({ action: 'grant.revoke', target: grantId }));
    expect(revoked).toEqual(events.slice(1, 2));
    expect(await collect(client.audit.list({ since: new Date(Date.now() + 3_600_000) }))).toEqual([]);
  });
});
