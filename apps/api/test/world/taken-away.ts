/** What is taken from holders in a span that a restore loses, and whether the restore has taken it again. */
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { tamper } from '@svc/testkit';
import { Client } from 'pg';
import { ADMIN_TOKEN } from './api-node.ts';
import { untilKept } from './fence.ts';
import { callJson, createTenants, type Tenants } from './tenants.ts';

export interface Holders {
  readonly tenants: Tenants;
  readonly former: string;
  readonly later: string;
  /** Id of a key of the former org. */
  readonly orgKeyId: string;
  /** Holders from whom something is taken in the last moment, which only the log records. */
  readonly last: Last;
}

interface Last {
  readonly orgId: string;
  readonly agent: string;
  readonly kid: string;
}

const MOVED = 'did:web:moved.example';
const MOVED_RP = 'did:web:moved-shop.example';
const RELEASED = 'did:web:released.example';
/** Released, and then claimed by another org. */
const CLAIMED_ANEW = 'did:web:claimed-anew.example';
/** Claimed by a stranger, who ended its key and its Agent; then registered by its owner. */
const OWNED = 'did:web:owned.example';
/** Proven in the lost span, in the last minute of the claim. */
const PROVEN_LATE = 'did:web:proven-late.example';
/** Transferred to another org, back, and to it again in the last moment. */
const LAST_MOVED = 'did:web:moved-at-last.example';
const LAST_RELEASED = 'did:web:released-at-last.example';
/** The same for a relying party. */
const LAST_MOVED_RP = 'did:web:shop-moved-at-last.example';
const LAST_RELEASED_RP = 'did:web:shop-released-at-last.example';
const SERVICE_KEY = 'did:web:svc.test#receipt-99';

const admin = <T>(baseUrl: string, method: string, path: string, body: object = {}) =>
  callJson<T>(baseUrl, method, path, { key: ADMIN_TOKEN, body });

const createOrg = async (baseUrl: string, slug: string): Promise<string> =>
  (await admin<{ org_id: string }>(baseUrl, 'POST', '/orgs', { slug, name: slug })).org_id;

const insertClaim = (sql: Client, did: string, orgId: string, expiresIn = '6 days') =>
  sql.query(
    `insert into principals (did, kind, domain, verification_state, verification_token, may_be_named, org_id, claim_expires_at)
    values ($1, 'hosted', substr($1, 9), 'unverified', 'token', true, $2, now() + $3::interval)`,
    [did, orgId, expiresIn],
  );

const insertClaimOfRp = async (baseUrl: string, sql: Client, did: string, orgId: string): Promise<void> => {
  await admin(baseUrl, 'POST', '/relying-parties', { kind: 'hosted', did });
  await sql.query(
    `update relying_parties set org_id = $2, claim_expires_at = now() + interval '6 days', verification_token = 'token'
     where did = $1`,
    [did, orgId],
  );
};

const insertKeyAndAgent = async (sql: Client, did: string, { agent }: Tenants) => {
  await sql.query(
    `insert into principal_keys (kid, principal, public_key_multibase) values ($1 || '#key-1', $1, $2)`,
    [did, agent.did.slice('did:key:'.length)],
  );
  await sql.query('insert into agents (principal, did) values ($1, $2)', [did, agent.did]);
};

const push = (baseUrl: string, orgId: string, production: 'allowed' | 'blocked') =>
  admin(baseUrl, 'PUT', `/orgs/${orgId}/entitlement`, {
    ...{ production, production_until: null, check_cap: null, cap_since: null },
    ...{ reason: production === 'allowed' ? 'paid' : 'canceled', as_of: new Date().toISOString() },
  });

/** Run it before the moment that is restored. */
export const createHolders = async (baseUrl: string, url: string, sql: Client): Promise<Holders> => {
  const tenants = await createTenants(baseUrl);
  await callJson(baseUrl, 'POST', '/agents', { key: tenants.principalKey, body: { did: tenants.agent.did } });
  const former = await createOrg(baseUrl, 'former-holder');
  const later = await createOrg(baseUrl, 'later-holder');
  const { key_id: orgKeyId } = await admin<{ key_id: string }>(
    ...([baseUrl, 'POST', `/orgs/${former}/api-keys`, { role: 'admin' }] as const),
  );
  await push(baseUrl, former, 'allowed');
  await insertClaim(sql, OWNED, former);
  await insertKeyAndAgent(sql, OWNED, tenants);
  await sql.query(`update principal_keys set state = 'compromised' where principal = $1`, [OWNED]);
  await sql.query('update agents set disabled_at = now() where principal = $1', [OWNED]);
  await untilKept(sql);
  await admin(baseUrl, 'POST', `/claims/${OWNED}/release`, { kind: 'principal' });
  await insertClaim(sql, OWNED, later);
  await insertKeyAndAgent(sql, OWNED, tenants);
  for (const did of [MOVED, RELEASED, CLAIMED_ANEW, LAST_MOVED, LAST_RELEASED])
    await insertClaim(sql, did, former);
  for (const did of [LAST_MOVED_RP, LAST_RELEASED_RP]) await insertClaimOfRp(baseUrl, sql, did, former);
  const last = await createLast(baseUrl, sql, tenants);
  await insertClaim(sql, PROVEN_LATE, former, '1 minute');
  await admin(baseUrl, 'POST', '/relying-parties', { kind: 'hosted', did: MOVED_RP });
  await sql.query(`update relying_parties set org_id = $2, proof_window_seconds = 300 where did = $1`, [
    MOVED_RP,
    former,
  ]);
  // Makes two days before any decision, which can be closed at any time.
  await tamper(url, 'update deployment set first_day = first_day - 2');
  await sql.query('insert into service_keys (kid, public_key) values ($1, $2)', [
    SERVICE_KEY,
    tenants.agent.did.slice('did:key:'.length),
  ]);
  return { tenants, former, later, orgKeyId, last };
};

const createLast = async (
  baseUrl: string,
  sql: Client,
  { principalDid, principalKey }: Tenants,
): Promise<Last> => {
  const { did: agent } = agentFromJwk((await generateAgentKey()).privateJwk);
  await callJson(baseUrl, 'POST', '/agents', { key: principalKey, body: { did: agent } });
  const kid = `${principalDid}#key-last`;
  await sql.query(`insert into principal_keys (kid, principal, public_key_multibase) values ($1, $2, $3)`, [
    kid,
    principalDid,
    agent.slice('did:key:'.length),
  ]);
  const orgId = await createOrg(baseUrl, 'blocked-at-last');
  await push(baseUrl, orgId, 'allowed');
  return { orgId, agent, kid };
};

/** Takes things in the last moment of the lost span, of which nothing is copied beside the fence. */
export const takeAwayAtLast = async (
  baseUrl: string,
  sql: Client,
  { tenants, former, later, last }: Holders,
): Promise<void> => {
  for (const table of ['agents', 'principal_keys', 'entitlements'])
    await sql.query(`alter table ${table} disable trigger note_revoked`);
  for (const table of ['principals', 'relying_parties'])
    await sql.query(`alter table ${table} disable trigger note_name`);
  const key = tenants.principalKey;
  await callJson(baseUrl, 'POST', `/agents/${last.agent}/disable`, { key });
  await callJson(baseUrl, 'POST', `/keys/${encodeURIComponent(last.kid)}/retire`, { key });
  await push(baseUrl, last.orgId, 'blocked');
  for (const [kind, moved, released] of [
    ['principal', LAST_MOVED, LAST_RELEASED],
    ['relying_party', LAST_MOVED_RP, LAST_RELEASED_RP],
  ]) {
    for (const orgId of [later, former, later])
      await admin(baseUrl, 'POST', `/claims/${moved}/transfer`, { kind, org_id: orgId });
    await admin(baseUrl, 'POST', `/claims/${released}/release`, { kind });
  }
};

/** Takes things in the lost span. Resolves with the days that were closed in it. */
export const takeAway = async (
  baseUrl: string,
  sql: Client,
  holders: Holders,
): Promise<readonly string[]> => {
  const { tenants, former, later, orgKeyId } = holders;
  const key = tenants.principalKey;
  await callJson(baseUrl, 'POST', `/agents/${tenants.agent.did}/disable`, { key });
  const kid = encodeURIComponent(`${tenants.principalDid}#key-1`);
  await callJson(baseUrl, 'POST', `/keys/${kid}/compromise`, { key });
  for (const [did, kind] of [
    [MOVED, 'principal'],
    [MOVED_RP, 'relying_party'],
  ])
    await admin(baseUrl, 'POST', `/claims/${did}/transfer`, { kind, org_id: later });
  await admin(baseUrl, 'PATCH', `/relying-parties/${MOVED_RP}`, { proof_window_seconds: 60 });
  for (const did of [RELEASED, CLAIMED_ANEW])
    await admin(baseUrl, 'POST', `/claims/${did}/release`, { kind: 'principal' });
  await insertClaim(sql, CLAIMED_ANEW, later);
  await callJson(baseUrl, 'POST', `/orgs/${former}/api-keys/${orgKeyId}/revoke`, { key: ADMIN_TOKEN });
  await push(baseUrl, former, 'blocked');
  await sql.query(
    `update principals set claim_expires_at = null, verification_state = 'verified', verified_since = now(),
       last_checked_at = now(), last_proven_at = now() where did = $1`,
    [PROVEN_LATE],
  );
  await sql.query(`insert into service_key_ends (kid, state) values ($1, 'compromised')`, [SERVICE_KEY]);
  return (await admin<{ closed: string[] }>(baseUrl, 'POST', '/checkpoints/close')).closed;
};

/** The state in a restored database; `isSettled`: whether it is as it must be. */
export const describeTaken = async (url: string, { tenants, former, later, orgKeyId, last }: Holders) => {
  const sql = new Client({ connectionString: url });
  await sql.connect();
  const ask = async (text: string, ...values: readonly unknown[]) =>
    (await sql.query({ text, values: [...values], rowMode: 'array' })).rows.flat();
  const nameOf = (orgId: unknown) => (orgId === later ? 'later' : orgId === former ? 'former' : orgId);
  try {
    return {
      holders: (
        await ask(
          'select org_id from principals where did = $1 union all select org_id from relying_parties where did = $2',
          MOVED,
          MOVED_RP,
        )
      ).map(nameOf),
      window: await ask('select proof_window_seconds from relying_parties where did = $1', MOVED_RP),
      released: await ask('select did from principals where did = any ($1)', [RELEASED, CLAIMED_ANEW]),
      reserved: await ask('select name from reserved_names where name = any ($1)', [RELEASED, CLAIMED_ANEW]),
      agents: await ask('select disabled_at is null from agents where principal = $1', tenants.principalDid),
      keys: await ask(
        'select state from principal_keys where principal = $1 order by kid',
        tenants.principalDid,
      ),
      liveKeys: await ask('select key_id from api_keys where key_id = $1 and revoked_at is null', orgKeyId),
      production: await ask('select production from entitlements where org_id = $1', former),
      serviceKey: await ask('select state from service_key_ends where kid = $1', SERVICE_KEY),
      // Days of the claim that are left when the quarantine ends and decisions begin again.
      claimDays: await ask(
        `select (extract(epoch from claim_expires_at - quarantined_until) / 86400)::integer
         from principals, restores where did = $1`,
        PROVEN_LATE,
      ),
      last: [
        ...(await ask('select org_id from principals where did = $1', LAST_MOVED)).map(nameOf),
        ...(await ask('select org_id from relying_parties where did = $1', LAST_MOVED_RP)).map(nameOf),
        ...(await ask('select did from principals where did = $1', LAST_RELEASED)),
        ...(await ask('select did from relying_parties where did = $1', LAST_RELEASED_RP)),
        ...(await ask('select production from entitlements where org_id = $1', last.orgId)),
      ],
      owned: await ask(
        `select state, disabled_at is null from principal_keys k join agents a using (principal) where principal = $1`,
        OWNED,
      ),
    };
  } finally {
    await sql.end();
  }
};
