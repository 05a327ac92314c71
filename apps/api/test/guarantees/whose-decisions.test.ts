/**
 * A subject reads as its own, and gets events of, only decisions that were about its own Grants (protocol §13, decision
 * 74, and §15). The later holder of a DID does not get those of the former one, nor does a subject that registers a
 * domain of somebody else.
 */
import type { Receipt } from '@svc/receipts';
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { listTold } from '@svc/testkit/store/events';
import { withSession } from '@svc/testkit/store/session';
import { until } from '@svc/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { bodyFor, CALL, issueBudget, usesOf } from '../world/budgets.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { createHostedTenants, proveDomain } from '../world/hosted-tenants.ts';
import { DID_DOCUMENT, didDocument, PROOF, startPrincipalHost } from '../world/principal-host.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const hostedDid = `did:web:${name}`;
const deployment = withOwnDeployment({
  SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url, 'hooks.example': host.url }),
  SVC_WEBHOOK_KEYS: 'a-root-for-tests-that-is-long-enough-0',
});
let shop: Tenants;
beforeAll(async () => {
  shop = await deployment.createTenants();
});

const decide = async (tenants: Tenants, held: HeldGrant): Promise<Receipt> => {
  const body = await verifyBody(tenants, held);
  return receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
};

/**
 * What `key` reads of the DID: the ids that it lists and exports, the number that it counts, and whether it may open
 * each.
 */
const readAll = async (did: string, key: string, ids: readonly string[]) => {
  const path = `/principals/${encodeURIComponent(did)}/decisions`;
  const get = (part: string) => deployment.call('GET', `${path}${part}`, { key });
  const list = await get('');
  if (list.status !== 200) {
    const parts = await Promise.all(['/export', '/stats', `/${ids[0]}`].map(get));
    return [list.status, ...parts.map(({ status }) => status)];
  }
  const exported = (await get('/export')).text.split('\n').filter((line) => line !== '');
  const stats = (await get('/stats')).json.totals as { verifies: number };
  return {
    listed: (list.json.decisions as { receipt_id: string }[]).map(({ receipt_id: id }) => id),
    exported: exported.map((line) => (JSON.parse(line) as { receipt_id: string }).receipt_id),
    counted: stats.verifies,
    opened: await Promise.all(ids.map(async (id) => (await get(`/${id}`)).status)),
  };
};
/**
 * The number of verifies that `key` is shown for the DID, in total and by key; for an org key as one of its members.
 */
const usageOf = async (did: string, key: string) => {
  const count = async (query: string) => {
    const { json } = await deployment.call('GET', `/usage?principal=${encodeURIComponent(did)}${query}`, {
      key,
    });
    const days = json.days as { verifies: number; keys?: Record<string, { verifies: number }> }[];
    const byKey = days.flatMap(({ keys = {} }) => Object.values(keys).map(({ verifies }) => verifies));
    return [(json.totals as { verifies: number }).verifies, byKey.reduce((sum, one) => sum + one, 0)];
  };
  return { verifies: (await count(''))[0], byKey: await count('&by=key') };
};
const only = (id: string, opened: readonly number[]) => ({
  listed: [id],
  exported: [id],
  counted: 1,
  opened,
});

/** Subscribes the subjects of these keys to decisions and outcomes. */
const subscribe = async (...keys: readonly string[]) => {
  const body = {
    url: 'https://hooks.example/',
    types: ['decision.allow', 'decision.deny', 'outcome.reported'],
  };
  for (const key of keys)
    expect((await deployment.call('POST', '/event-subscriptions', { key, body })).status).toBe(201);
};
const report = async ({ rpKey: key }: Tenants, receiptId: string) => {
  const body = { type: 'fulfilled', occurred_at: '2026-11-20T08:00:00.000Z' };
  const path = `/decisions/${receiptId}/outcomes`;
  expect((await deployment.call('POST', path, { key, body })).status).toBe(201);
};
/** The events of each audience, as types with Receipts. */
const toldTo = (...audiences: readonly string[]) =>
  Promise.all(
    audiences.map(async (audience) =>
      (await listTold(deployment.databaseUrl, audience)).map(
        ({ type, data }) => `${type} ${(JSON.parse(data) as { receipt_id: string }).receipt_id}`,
      ),
    ),
  );

const newOrg = async () => {
  const orgId = await deployment.createOrg();
  return { orgId, key: await deployment.createKey('org:admin', orgId) };
};
const transfer = (did: string, orgId: string) =>
  deployment.call('POST', `/claims/${encodeURIComponent(did)}/transfer`, {
    key: ADMIN_TOKEN,
    body: { kind: 'principal', org_id: orgId },
  });

it('the new holder of a DID and its org neither read decisions of the former holder nor get events about them', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const tenants = await createHostedTenants(deployment, { host, name }, former.key, shop);
  const { principalDid: did } = tenants;
  const grant = await issueGrant(tenants);
  const { receipt_id: before } = await decide(tenants, grant);
  expect(await readAll(did, former.key, [before])).toEqual(only(before, [200]));
  expect((await transfer(did, next.orgId)).status).toBe(200);

  const issued = await deployment.call('POST', `/api-keys?subject=${did}`, { key: next.key, body: {} });
  const principalKey = String(issued.json.api_key);
  await proveDomain(deployment, { host, name }, did, next.key);
  const nothing = { listed: [], exported: [], counted: 0, opened: [404] };
  for (const key of [principalKey, next.key]) {
    expect(await readAll(did, key, [before])).toEqual(nothing);
    expect(await usageOf(did, key)).toEqual({ verifies: 0, byKey: [0, 0] });
  }
  await subscribe(principalKey, next.key);
  await report(tenants, before);
  expect(await readAll(did, former.key, [before])).toEqual([404, 404, 404, 404]);

  // Decisions from now on belong to the new holder, whichever Grant they are about.
  const { receipt_id: after } = await decide(tenants, grant);
  for (const key of [principalKey, next.key]) {
    expect(await readAll(did, key, [before, after])).toEqual(only(after, [404, 200]));
    expect(await usageOf(did, key)).toEqual({ verifies: 1, byKey: [1, 1] });
  }
  // The relying party made both, and the operator sees all.
  for (const key of [tenants.rpKey, ADMIN_TOKEN]) expect((await usageOf(did, key)).verifies).toBe(2);
  await report(tenants, after);
  const told = [`decision.allow ${after}`, `outcome.reported ${after}`];
  expect(await toldTo(`principal ${did}`, `org ${next.orgId}`)).toEqual([told, told]);
});

/** Runs `during` while every transaction that has inserted such a row into this table is blocked. */
const whileHeld = (table: string, row: string, during: (release: () => Promise<unknown>) => Promise<void>) =>
  withSession(deployment.databaseUrl, async (session) => {
    const gate = `gate_${table}`;
    await session.query(`create function ${gate}() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(99, 1); return null; end $$`);
    await session.query(
      `create trigger ${gate} after insert on ${table} for each row when (${row}) execute function ${gate}()`,
    );
    const release = () => session.query('select pg_advisory_unlock_all()');
    await session.query('select pg_advisory_lock(99, 1)');
    try {
      await during(release);
    } finally {
      await release();
      await session.query(`drop function ${gate}() cascade`);
    }
  });
/** Waits until a session waits for an advisory lock of this space. */
const untilWaiting = (space: number) =>
  until(async () => {
    const { rows } = await deployment.sql.query(
      `select from pg_locks where locktype = 'advisory' and classid = $1 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      [space],
    );
    return rows.length > 0;
  });

it('the new holder of a DID gets no event of a decision that was being stored during the transfer', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const tenants = await createHostedTenants(deployment, { host, name }, former.key, shop);
  const { principalDid: did } = tenants;
  const grant = await issueGrant(tenants);
  await subscribe(tenants.principalKey);
  await whileHeld('event_outbox', `new.audience = 'principal ${did}'`, async (release) => {
    const deciding = decide(tenants, grant);
    await untilWaiting(99);
    const transferring = transfer(did, next.orgId);
    await untilWaiting(1);
    await release();
    expect((await transferring).status).toBe(200);
    const { receipt_id: before } = await deciding;
    expect(await toldTo(`principal ${did}`)).toEqual([[]]);
    await proveDomain(deployment, { host, name }, did, next.key);
    expect(await readAll(did, next.key, [before])).toMatchObject({ listed: [], opened: [404] });
  });
});

it('the new holder of a DID does not read a decision that was made during the transfer', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const tenants = await createHostedTenants(deployment, { host, name }, former.key, shop);
  const { principalDid: did } = tenants;
  const body = await verifyBody(tenants, await issueGrant(tenants));
  await whileHeld('audit_events', `new.org_id = '${next.orgId}'`, async (release) => {
    const transferring = transfer(did, next.orgId);
    await untilWaiting(99);
    const deciding = deployment.call('POST', '/verify', { key: tenants.rpKey, body });
    // The decision waits for the transfer; if it does not, it is stored at once.
    await Promise.race([deciding, untilWaiting(1)]);
    await release();
    expect((await transferring).status).toBe(200);
    await deciding;
  });
  await proveDomain(deployment, { host, name }, did, next.key);
  const path = `/principals/${encodeURIComponent(did)}/decisions?decision=ALLOW`;
  expect((await deployment.call('GET', path, { key: next.key })).json.decisions).toEqual([]);
});

it('the new holder of a DID reads only the later consumption events of a Grant; relying parties that verified it read all', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const consumer = await deployment.createTenants({ orgId: next.orgId, rp: { profile: 'svc-base-v2' } });
  const seller = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const tenants = await createHostedTenants(deployment, { host, name }, former.key, seller);
  const { principalDid: did } = tenants;
  const grant = await issueBudget(tenants, usesOf(9));
  const use = async (of: Tenants) => {
    const body = await bodyFor({ agent: tenants.agent, rpDid: of.rpDid }, grant, CALL);
    const answer = await deployment.call('POST', '/verify', { key: of.rpKey, body });
    expect(receiptOf(answer).decision).toBe('ALLOW');
  };
  const read = async (key: string, query = '') => {
    const path = `/grants/${grant.grantId}/consumption${query}`;
    const { json } = await deployment.call('GET', path, { key });
    const versions = (json.events as { version: number }[]).map(({ version }) => version);
    return [json.version, versions, json.next_cursor];
  };
  await use(tenants);
  await use(tenants);
  expect(await read(former.key)).toEqual([2, [2, 1], null]);
  expect((await transfer(did, next.orgId)).status).toBe(200);
  const issued = await deployment.call('POST', `/api-keys?subject=${did}`, { key: next.key, body: {} });
  const principalKey = String(issued.json.api_key);
  for (const key of [principalKey, next.key]) expect(await read(key)).toEqual([2, [], null]);

  await proveDomain(deployment, { host, name }, did, next.key);
  await use(tenants);
  for (const key of [principalKey, next.key]) {
    expect(await read(key)).toEqual([3, [3], null]);
    expect((await read(key, '?limit=1'))[1]).toEqual([3]);
    expect(await read(key, '?limit=1&cursor=3')).toEqual([3, [], null]);
  }
  for (const key of [tenants.rpKey, ADMIN_TOKEN]) expect(await read(key)).toEqual([3, [3, 2, 1], null]);
  await use(consumer);
  expect(await read(next.key)).toEqual([4, [4, 3, 2, 1], null]);
  expect(await read(principalKey)).toEqual([4, [4, 3], null]);
});

it('a Principal with an unproven domain neither reads decisions nor gets events; the next holder does not get the earlier ones', async () => {
  const [squatter, owner] = [await newOrg(), await newOrg()];
  const { privateJwk, registration } = await generatePrincipalKey();
  host.pages.set(DID_DOCUMENT, didDocument(hostedDid, [registration]));
  const register = (key: string) =>
    deployment.register('/principals', { kind: 'hosted', did: hostedDid }, key);
  // The domain's keys sign the Grant, whoever has registered the domain here.
  const sign = async (apiKey: string) => {
    const principal = createPrincipalClient({
      ...{ baseUrl: deployment.process.baseUrl, apiKey },
      signer: signerFromJwk(privateJwk, `${hostedDid}#key-1`),
    });
    const agent = agentFromJwk((await generateAgentKey()).privateJwk);
    const tenants = { ...shop, principalDid: hostedDid, principalKey: apiKey, principal, agent };
    return { tenants, grant: await issueGrant(tenants) };
  };

  const claimed = await register(squatter.key);
  const unproven = await sign(claimed.key);
  await subscribe(claimed.key, squatter.key);
  const denied = await decide(unproven.tenants, unproven.grant);
  expect([denied.reason, denied.protocol.checks.P3]).toEqual(['ISSUER_UNVERIFIED', true]);
  for (const key of [claimed.key, squatter.key])
    expect(await readAll(hostedDid, key, [denied.receipt_id])).toEqual([403, 403, 403, 403]);
  await report(shop, denied.receipt_id);
  expect(await toldTo(`principal ${hostedDid}`, `org ${squatter.orgId}`)).toEqual([[], []]);

  const release = await deployment.call('POST', `/claims/${encodeURIComponent(hostedDid)}/release`, {
    key: ADMIN_TOKEN,
    body: { kind: 'principal' },
  });
  expect(release.status).toBe(200);
  const { body, key } = await register(owner.key);
  const { token } = body.verification as { token: string };
  host.pages.set(PROOF, { did: hostedDid, token });
  expect((await deployment.call('POST', `/principals/${hostedDid}/verify`, { key })).status).toBe(200);
  await subscribe(key, owner.key);
  await report(shop, denied.receipt_id);
  const proven = await sign(key);
  const { receipt_id: allowed, decision } = await decide(proven.tenants, proven.grant);
  expect(decision).toBe('ALLOW');
  for (const reader of [key, owner.key])
    expect(await readAll(hostedDid, reader, [denied.receipt_id, allowed])).toEqual(only(allowed, [404, 200]));
  const told = [`decision.allow ${allowed}`];
  expect(await toldTo(`principal ${hostedDid}`, `org ${owner.orgId}`)).toEqual([told, told]);
});
