/**
 * Nobody decides, or keeps others from deciding, under a DID that is not theirs (protocol §13, Claims). A thief has an
 * org:admin key; the owner has one of another org, and the domain.
 */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { alterFunction } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { DID_DOCUMENT, didDocument, PROOF, startPrincipalHost } from '../world/principal-host.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const names = Array.from({ length: 36 }, () => `${randomSlug('host')}.example`);
const hosts = Object.fromEntries(names.map((name) => [name, host.url]));
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify(hosts) }, 2);
/** Each test uses another DID. */
const newDid = () => `did:web:${names.pop()}`;

let thief: string;
let owner: string;
let ownerOrg: string;
let thiefOrg: string;
let tenants: Tenants;

beforeAll(async () => {
  ownerOrg = await deployment.createOrg();
  thiefOrg = await deployment.createOrg();
  thief = await deployment.createKey('org:admin', thiefOrg);
  owner = await deployment.createKey('org:admin', ownerOrg);
  tenants = await deployment.createTenants();
});

const PATHS = ['/principals', '/relying-parties'] as const;
type Path = (typeof PATHS)[number];
const kindOf = (path: Path) => (path === '/principals' ? 'principal' : 'relying_party');

const create = (path: Path, key: string, did: string) =>
  deployment.call('POST', path, { key, body: { kind: 'hosted', did } });
const me = async (key: string) => (await deployment.call('GET', '/me', { key })).status;
const tokenIn = (text: string) => /svc-verification=([\w-]+)/.exec(text)?.[1] ?? '';
const publish = (did: string, token: string) => host.pages.set(PROOF, { did, token });
/** Verifies as the relying party `did`, with a Grant and a Proof made out to it. */
const decideAs = async (did: string, key: string, process = deployment.process) => {
  const body = await verifyBody({ ...tenants, rpDid: did }, await issueGrant(tenants));
  const { call } = await import('../world/tenants.ts');
  return call(process.baseUrl, 'POST', '/verify', { key, body });
};
const setExpired = async (did: string) => {
  for (const table of ['principals', 'relying_parties'])
    await deployment.sql.query(
      `update ${table} set claim_expires_at = now() - interval '1 s' where did = $1`,
      [did],
    );
};
const contestersOf = async (did: string) => {
  const sql = 'select org_id from contesting_claims where did = $1';
  return (await deployment.sql.query(sql, [did])).rows.map(({ org_id }) => org_id);
};

describe('a relying party whose DID is claimed', () => {
  it('gets 401 and is in no Receipt until its domain is proven; then every node decides for it at once', async () => {
    const did = newDid();
    const { json } = await create('/relying-parties', thief, did);
    const key = String(json.api_key);
    for (const process of deployment.processes) {
      const { status, text: refusal } = await decideAs(did, key, process);
      expect([status, JSON.parse(refusal)]).toMatchObject([401, { error: 'UNAUTHORIZED' }]);
    }
    const access = {
      subject: { type: 'agent', id: tenants.agent.did, properties: { grant: '', proof: '' } },
      action: { name: 'commerce:purchase' },
      resource: { type: 'order', id: 'order/1' },
    };
    const evaluation = { key, body: access };
    expect((await deployment.call('POST', '/access/v1/evaluation', evaluation)).status).toBe(401);
    const { rowCount } = await deployment.sql.query('select from receipts where relying_party = $1', [did]);
    expect(rowCount).toBe(0);

    expect((await create('/relying-parties', owner, did)).status).toBe(409);
    publish(did, tokenIn((await deployment.call('GET', `/claims/${did}`, { key })).text));
    expect((await deployment.call('POST', `/relying-parties/${did}/verify`, { key })).status).toBe(200);
    // No claim to the DID can take effect any more.
    expect(await contestersOf(did)).toEqual([]);
    for (const process of deployment.processes)
      expect(receiptOf(await decideAs(did, key, process))).toMatchObject({
        decision: 'ALLOW',
        relying_party: did,
      });
  });

  it('is not limited where the operator registered it: it verifies at once', async () => {
    const did = newDid();
    const { json } = await create('/relying-parties', ADMIN_TOKEN, did);
    expect(receiptOf(await decideAs(did, String(json.api_key))).decision).toBe('ALLOW');
  });
});

describe.each(PATHS)('POST %s of a DID that another org has claimed', (path) => {
  it('answers what to publish, and succeeds once it is published; the former claim and its keys end', async () => {
    const did = newDid();
    const stolen = await create(path, thief, did);
    const refused = await create(path, owner, did);
    expect([refused.status, refused.json.error]).toEqual([409, 'CONFLICT']);
    const token = tokenIn(refused.text);
    expect(token).not.toBe('');
    expect(tokenIn((await create(path, owner, did)).text)).toBe(token);
    const other = await deployment.createKey('org:admin', await deployment.createOrg());
    expect((await create(path, other, did)).status).toBe(409);
    expect(await contestersOf(did)).toHaveLength(2);

    publish(did, token);
    const taken = await create(path, owner, did);
    expect([taken.status, taken.json.did]).toEqual([201, did]);
    expect([await me(String(stolen.json.api_key)), await me(String(taken.json.api_key))]).toEqual([401, 200]);
    // For a proven DID no claim takes effect any more, and its registration yields to none.
    expect(await contestersOf(did)).toEqual([]);
    expect((await create(path, thief, did)).status).toBe(409);
    expect((await create(path, ADMIN_TOKEN, did)).status).toBe(409);
  });

  it.each(['expired', 'released'])(
    'accepts the published token as proof of the domain even after the former claim is %s',
    async (end) => {
      const did = newDid();
      await create(path, thief, did);
      publish(did, tokenIn((await create(path, owner, did)).text));
      const release = { key: ADMIN_TOKEN, body: { kind: kindOf(path) } };
      if (end === 'expired') await setExpired(did);
      else expect((await deployment.call('POST', `/claims/${did}/release`, release)).status).toBe(200);
      const { status, json } = await create(path, owner, did);
      expect(status).toBe(201);
      expect((await deployment.call('GET', `/claims/${did}`, { key: owner })).json.claims).toEqual([]);
      expect(await contestersOf(did)).toEqual([]);
      if (path === '/principals') expect(json.verification).toMatchObject({ state: 'verified' });
      else expect(receiptOf(await decideAs(did, String(json.api_key)))).toMatchObject({ decision: 'ALLOW' });
    },
  );

  it('keeps the same token after the former claim has expired', async () => {
    const did = newDid();
    await create(path, thief, did);
    const token = tokenIn((await create(path, owner, did)).text);
    await setExpired(did);
    expect((await create(path, owner, did)).status).toBe(201);
    const { text } = await deployment.call('GET', `/claims/${did}`, { key: owner });
    expect(tokenIn(text)).toBe(token);
    expect(await contestersOf(did)).toEqual([]);
  });

  it('does not accept the token of another org as proof', async () => {
    const did = newDid();
    await create(path, thief, did);
    publish(did, tokenIn((await create(path, owner, did)).text));
    const other = await deployment.createKey('org:admin', await deployment.createOrg());
    expect((await create(path, other, did)).status).toBe(409);
  });

  it('succeeds for the operator, and for another org once the claim has expired, but not for the claiming org itself', async () => {
    for (const by of [ADMIN_TOKEN, owner]) {
      const did = newDid();
      const stolen = await create(path, thief, did);
      expect((await create(path, thief, did)).status).toBe(409);
      if (by === owner) await setExpired(did);
      expect((await create(path, by, did)).status).toBe(201);
      expect(await me(String(stolen.json.api_key))).toBe(401);
    }
  });

  it('succeeds for exactly one of six orgs that take over an expired claim at the same time', async () => {
    const did = newDid();
    await create(path, thief, did);
    await setExpired(did);
    const orgs = await Promise.all(
      Array.from({ length: 6 }, async () => deployment.createKey('org:admin', await deployment.createOrg())),
    );
    const answers = await Promise.all(orgs.map((key) => create(path, key, did)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
  });
});

it('Grants, audit events and key states made under a claim end with it', async () => {
  const did = newDid();
  const multikey = tenants.agent.did.slice('did:key:'.length);
  host.pages.set(DID_DOCUMENT, didDocument(did, [{ publicKeyMultibase: multikey }]));
  const stolen = await create('/principals', thief, did);
  const key = String(stolen.json.api_key);
  const post = (path: string, body?: object) => deployment.call('POST', path, { key, ...(body && { body }) });
  const { json: grant } = await post('/grants', { agent: tenants.agent.did });
  await post('/agents', { did: tenants.agent.did });
  expect((await post(`/keys/${encodeURIComponent(`${did}#key-1`)}/compromise`)).status).toBe(200);

  publish(did, tokenIn((await create('/principals', owner, did)).text));
  const taken = await create('/principals', owner, did);
  const own = String(taken.json.api_key);
  const directory = await deployment.call('GET', `/principals/${did}`, { key: tenants.rpKey });
  expect(directory.json).toMatchObject({
    verification: { state: 'verified' },
    keys: [{ kid: `${did}#key-1`, state: 'active' }],
  });
  expect((await deployment.call('GET', '/grants', { key: own })).json.grants).toEqual([]);
  const { json: fresh } = await deployment.call('POST', '/grants', {
    key: own,
    body: { agent: tenants.agent.did },
  });
  const listOf = ({ credentialStatus }: Record<string, unknown>) =>
    (credentialStatus as { statusListCredential: string }).statusListCredential;
  expect(listOf(fresh)).not.toBe(listOf(grant));
  // The new holder may not read what the former claimant did under this DID.
  const { events } = (await deployment.call('GET', '/audit', { key: own })).json as { events: object[] };
  expect(events).toMatchObject([{ action: 'grant.allocate', target: fresh.id }]);
  host.pages.delete(DID_DOCUMENT);
});

it('a node that has cached a claimed Principal allows Grants of the owner who has proven the domain', async () => {
  const did = newDid();
  const { privateJwk, registration } = await generatePrincipalKey();
  host.pages.set(DID_DOCUMENT, didDocument(did, [registration]));
  const signer = signerFromJwk(privateJwk, `${did}#key-1`);
  const decideUnder = async (apiKey: string) => {
    const { baseUrl } = deployment.process;
    const principal = createPrincipalClient({ baseUrl, apiKey, signer });
    const holder = { ...tenants, principalDid: did, principal };
    const body = await verifyBody(holder, await issueGrant(holder));
    return receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
  };
  const claimed = String((await create('/principals', thief, did)).json.api_key);
  // Makes as many changes as the proof of the domain does.
  const pause = { scope: 'principal', subject: did };
  expect((await deployment.call('POST', '/pauses', { key: claimed, body: pause })).status).toBe(200);
  expect(await decideUnder(claimed)).toMatchObject({ reason: 'ISSUER_UNVERIFIED' });

  publish(did, tokenIn((await create('/principals', owner, did)).text));
  const own = String((await create('/principals', owner, did)).json.api_key);
  expect(await decideUnder(own)).toMatchObject({
    decision: 'ALLOW',
    principal: { id: did, verification: 'domain' },
  });
  host.pages.delete(DID_DOCUMENT);
});

it('an org can have at most 100 claimed DIDs at a time', async () => {
  const orgId = await deployment.createOrg();
  await deployment.sql.query(
    `insert into relying_parties (did, kind, name, proof_window_seconds, verify_rate_limit_per_minute, profile,
       org_id, claim_expires_at, verification_token)
     select 'did:web:' || $2 || n || '.example', 'hosted', 'x', 60, 600, 'svc-base-v1', $1, now() + interval '1 day', 't'
     from generate_series(1, 99) as n`,
    [orgId, randomSlug('many')],
  );
  const key = await deployment.createKey('org:admin', orgId);
  expect((await create('/relying-parties', key, newDid())).status).toBe(201);
  for (const path of PATHS) {
    const { status, json } = await create(path, key, newDid());
    expect([status, json.error]).toEqual([409, 'CONFLICT']);
  }
});

describe('the operator', () => {
  it.each(PATHS)('ends contesting claims of %s by registering and by transferring the DID', async (path) => {
    const [taken, moved] = [newDid(), newDid()];
    for (const did of [taken, moved]) {
      await create(path, thief, did);
      expect((await create(path, owner, did)).status).toBe(409);
    }
    expect((await create(path, ADMIN_TOKEN, taken)).status).toBe(201);
    const body = { kind: kindOf(path), org_id: ownerOrg };
    const { status } = await deployment.call('POST', `/claims/${moved}/transfer`, { key: ADMIN_TOKEN, body });
    expect(status).toBe(200);
    expect([await contestersOf(taken), await contestersOf(moved)]).toEqual([[], []]);
  });

  it.each(PATHS)(
    'releases a claim of %s: its keys are revoked and the DID can be registered again',
    async (path) => {
      const did = newDid();
      const { json } = await create(path, thief, did);
      const release = () =>
        deployment.call('POST', `/claims/${did}/release`, { key: ADMIN_TOKEN, body: { kind: kindOf(path) } });
      expect((await release()).json).toEqual({ did, kind: kindOf(path), released: true });
      expect(await me(String(json.api_key))).toBe(401);
      expect((await release()).status).toBe(404);
      expect((await create(path, owner, did)).status).toBe(201);
    },
  );
});

it('proof of the domain of a Principal removes all contesting claims', async () => {
  const did = newDid();
  const { json } = await create('/principals', thief, did);
  expect((await create('/principals', owner, did)).status).toBe(409);
  publish(did, tokenIn((await deployment.call('GET', `/claims/${did}`, { key: thief })).text));
  const key = String(json.api_key);
  expect((await deployment.call('POST', `/principals/${did}/verify`, { key })).status).toBe(200);
  expect(await contestersOf(did)).toEqual([]);
});

describe('registration of a Principal whose domain is already proven', () => {
  it('is audited as principal.verify, and neither org sees the id of the other', async () => {
    const did = newDid();
    await create('/principals', thief, did);
    publish(did, tokenIn((await create('/principals', owner, did)).text));
    expect((await create('/principals', owner, did)).status).toBe(201);
    const query = `target=${encodeURIComponent(did)}&action=principal.verify`;
    const { json } = await deployment.call('GET', `/audit?${query}`, { key: owner });
    expect(json.events).toMatchObject([
      { actor: { kind: 'org', did: ownerOrg }, details: { from: 'unverified', to: 'verified' } },
      { details: { claim: 'yielded' } },
    ]);
    // Neither of the two learns which org the other is.
    expect(JSON.stringify(json.events)).not.toContain(thiefOrg);
    const lost = (await deployment.call('GET', `/audit?${query}`, { key: thief })).json.events;
    expect(lost).toMatchObject([
      { actor: { kind: 'system', did: null, key_id: null }, details: { claim: 'yielded' } },
    ]);
    expect(JSON.stringify(lost)).not.toContain(ownerOrg);
  });

  it('is refused with 503 while the clock of the database is 60 s ahead, and succeeds afterwards', async () => {
    const did = newDid();
    await create('/principals', thief, did);
    publish(did, tokenIn((await create('/principals', owner, did)).text));
    const url = deployment.databaseUrl;
    const [now, ahead] = ['clock_timestamp()', "clock_timestamp() + interval '60 seconds'"];
    await alterFunction(url, 'svc_now', now, ahead);
    const refused = await create('/principals', owner, did);
    await alterFunction(url, 'svc_now', ahead, now);
    expect(refused.status).toBe(503);
    await vi.waitFor(async () => expect((await create('/principals', owner, did)).status).toBe(201), {
      timeout: 20_000,
      interval: 250,
    });
  });
});
