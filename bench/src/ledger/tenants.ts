/**
 * The tenants: relying parties and Principals, some of them members of orgs, Grants, and API keys that work on the real
 * API. Only what a measurement needs is made by the service's own code; SQL writes thousands of others.
 *
 * The tables in the schema `bench` number the tenants from 1, those with most decisions first, so that filling draws
 * numbers.
 */
import { DAY_MS, encodeUlid } from '@svc/protocol';
import { type ApiKeyRole, issueApiKey, pooledRandom } from '@svc/service';
import { createStore } from '@svc/store-pg';
import { execute, withSession } from './database.ts';

const RELYING_PARTIES = 200;
const PRINCIPALS = 2_000;
/** Grants of each Principal; they come into use in pairs, one pair after another. */
export const GRANTS_EACH = 10;
/** Keys of every measured caller: one key has 120 requests a minute. */
const MEASURING_KEYS = 24;

export type CallerName = 'largest RP' | 'smallest RP' | 'largest Principal' | 'org' | 'observer';

export interface Tenants {
  readonly keys: Readonly<Record<CallerName, readonly string[]>>;
  readonly largestRp: string;
  readonly largestPrincipal: string;
  readonly smallestPrincipal: string;
  /** Its members are the largest relying party and 39 others, and 40 of the 2,000 Principals, the largest among them. */
  readonly org: string;
  /** The first and the last Grant of these Principals. */
  readonly grants: { readonly largest: string; readonly smallest: string };
  readonly keyIds: { readonly largest: string; readonly smallest: string };
}

const relyingParty = (n: number) => `did:web:shop-${String(n).padStart(3, '0')}.example`;
const principal = (n: number) => `did:web:company-${String(n).padStart(4, '0')}.example`;
const org = (n: number) => `org_${encodeUlid(0, new Uint8Array(10).fill(n))}`;
const grant = (n: number, fromMs: number) =>
  `urn:svc:grant:${encodeUlid(fromMs, Buffer.from(n.toString(16).padStart(20, '0'), 'hex'))}`;

export async function insertTenants(databaseUrl: string, firstDayMs: number, days: number): Promise<Tenants> {
  await execute(databaseUrl, tablesSql);
  await insertGrants(databaseUrl, firstDayMs, days);
  const store = createStore({ databaseUrl });
  try {
    const random = pooledRandom();
    const issue = (role: ApiKeyRole, subject: string) =>
      issueApiKey(store, random, { role, subject, label: 'bench' });
    const keyIds = new Map<number, string[]>();
    for (let n = 1; n <= RELYING_PARTIES; n++) {
      const records = [];
      for (let i = 0; i <= n % 3; i++) records.push(await issue('rp', relyingParty(n)));
      keyIds.set(
        n,
        records.map(({ record }) => record.keyId),
      );
    }
    const several = async (role: ApiKeyRole, subject: string) => {
      const values: string[] = [];
      while (values.length < MEASURING_KEYS) values.push((await issue(role, subject)).value);
      return values;
    };
    const keys = {
      'largest RP': await several('rp', relyingParty(1)),
      'smallest RP': await several('rp', relyingParty(RELYING_PARTIES)),
      'largest Principal': await several('principal', principal(1)),
      org: await several('org:read', org(1)),
      observer: await several('observer', 'bench'),
    };
    await withSession(databaseUrl, (session) =>
      session.query(
        'update bench.relying_party r set key_ids = k.ids from (select n, array_agg(id) as ids from unnest($1::int[], $2::text[]) as k (n, id) group by n) k where k.n = r.n',
        [[...keyIds].flatMap(([n, ids]) => ids.map(() => n)), [...keyIds.values()].flat()],
      ),
    );
    return {
      keys,
      largestRp: relyingParty(1),
      largestPrincipal: principal(1),
      smallestPrincipal: principal(PRINCIPALS),
      org: org(1),
      grants: {
        largest: grant(grantNumber(1, 0), firstDayMs),
        smallest: grant(grantNumber(PRINCIPALS, 0), firstDayMs),
      },
      keyIds: {
        largest: keyIds.get(1)?.[0] ?? '',
        smallest: keyIds.get(RELYING_PARTIES)?.[0] ?? '',
      },
    };
  } finally {
    await store.close();
  }
}

const grantNumber = (principalNumber: number, index: number) => (principalNumber - 1) * GRANTS_EACH + index;

async function insertGrants(databaseUrl: string, firstDayMs: number, days: number): Promise<void> {
  const numbers = Array.from({ length: PRINCIPALS * GRANTS_EACH }, (_, i) => i);
  // Two Grants at a time, until the next two replace them.
  const startOf = (n: number) =>
    firstDayMs + Math.floor(((Math.floor((n % GRANTS_EACH) / 2) * 2) / GRANTS_EACH) * days) * DAY_MS;
  await withSession(databaseUrl, async (session) => {
    await session.query(agentsSql, [
      numbers,
      numbers.map((n) => grant(n, startOf(n))),
      numbers.map((n) => new Date(startOf(n)).toISOString()),
    ]);
    await session.query(grantsSql);
  });
}

/** Shares proportional to 1/n, as lower bounds of intervals of 0 to 1. */
const sharesSql = (count: number) => `
  select array_agg(low order by n) from (
    select n, coalesce(sum(1.0 / n) over (order by n rows between unbounded preceding and 1 preceding), 0)
      / sum(1.0 / n) over () as low
    from generate_series(1, ${count}) as n) as part`;

const tablesSql = `
  drop schema if exists bench cascade;
  create schema bench;
  insert into orgs (org_id, slug, name) values
    ${[1, 2, 3, 4, 5].map((n) => `('${org(n)}', 'bench-org-${n}', 'An org')`).join(', ')};
  create table bench.relying_party as
    select n, 'did:web:shop-' || lpad(n::text, 3, '0') || '.example' as did, null::text[] as key_ids,
      case when n % 5 = 1 then '${org(1)}' when n % 20 = 2 then '${org(2)}' when n % 20 = 7 then '${org(3)}'
        when n % 20 = 12 then '${org(4)}' when n % 20 = 17 then '${org(5)}' end as org_id
    from generate_series(1, ${RELYING_PARTIES}) as n;
  create table bench.principal as
    select n, 'did:web:company-' || lpad(n::text, 4, '0') || '.example' as did,
      case when n % 50 = 1 then '${org(1)}' end as org_id
    from generate_series(1, ${PRINCIPALS}) as n;
  create table bench.agent (n integer, id text, principal text, did text, allocated_at timestamptz);
  create table bench.share as
    select (${sharesSql(RELYING_PARTIES)})::float8[] as relying_party, (${sharesSql(PRINCIPALS)})::float8[] as principal;
  insert into relying_parties (did, kind, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id)
    select did, 'hosted', 'Shop ' || n, 120, 600, 'svc-base-v1', org_id from bench.relying_party;
  insert into principals (did, kind, domain, verification_state, verified_since, verification_token, org_id, may_be_named)
    select did, 'hosted', substr(did, 9), 'verified', svc_now(), md5(did), org_id, n % 10 = 0 from bench.principal;
  insert into evidence (hash, content_type, body)
    select 'sha256:' || encode(sha256('bench'), 'hex'), 'text/plain', 'bench';
  insert into status_lists (url, principal, domain, number, size_bits, permutation_key, bits, credential, credential_hash,
      valid_from)
    select 'https://status.example/' || did, did, substr(did, 9), 1, 131072, 'key', '', 'bench',
      'sha256:' || encode(sha256('bench'), 'hex'), svc_now()
    from bench.principal`;

const agentsSql = `
  insert into bench.agent (n, id, principal, did, allocated_at)
  select g.n, id, p.did, 'did:key:z6Mk' || substr(encode(sha512(id::bytea), 'hex'), 1, 44), allocated_at
  from unnest($1::int[], $2::text[], $3::timestamptz[]) as g (n, id, allocated_at)
  join bench.principal p on p.n = g.n / ${GRANTS_EACH} + 1`;

const grantsSql = `
  insert into grants (id, principal, agent, status_list_url, status_index, allocated_at)
  select id, principal, did, 'https://status.example/' || principal, n, allocated_at from bench.agent`;
