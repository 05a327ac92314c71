/**
 * Sign-ups while PostgreSQL is killed: a tenant exists as a whole or not at all, a slug belongs to one tenant, and what
 * was answered is in force. The suite has a durable PostgreSQL of its own: one that is not durable would lose tenants
 * here.
 */
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import { randomSlug } from '../world/deployment.ts';
import { type Answer, call } from '../world/tenants.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const UNLIMITED = { SVC_SELF_SERVE_PER_MINUTE: '100000', SVC_SELF_SERVE_IP_PER_HOUR: '100000' };
const SLUGS = sampled({ quick: 36, deep: 75 });
/** Number of slugs that are requested twice. */
const CONTESTED = sampled({ quick: 12, deep: 25 });
/** Number of answers after which PostgreSQL is killed. */
const KILLED_AFTER = sampled({ quick: 10, deep: 20 });

let cluster: OwnCluster;
let api: ApiNodes;
let sql: Client;
beforeAll(async () => {
  cluster = await startOwnCluster({ durable: true });
  const env = { SVC_PROVISION_KEYS: PROVISION_KEY, SVC_SELF_SERVE: '1', ...UNLIMITED };
  api = await startSeparateNodes(2, cluster.url, env);
}, 60_000);
afterAll(async () => {
  await sql?.end();
  await api?.stop();
  await cluster?.stop();
}, 60_000);

const signUp = (slug: string, node: number): Promise<Answer> =>
  call(api.processes[node % 2]?.baseUrl ?? '', 'POST', '/orgs/self-serve', {
    key: PROVISION_KEY,
    body: { slug, name: 'A tenant', admin_email: 'admin@tenant.example' },
  });

interface Bundle {
  readonly org: { readonly slug: string };
  readonly org_admin_key: string;
  readonly rp_verify_key: string;
  readonly starter: { readonly grant: string; readonly proof: string; readonly action: object };
}

/** Repeats under its idempotency key until it is answered, as a relying party does. */
const verifyAtLast = async ({ org, rp_verify_key: key, starter }: Bundle): Promise<string> => {
  const { grant, proof, action } = starter;
  const request = { key, body: { grant, proof, action }, headers: { 'idempotency-key': org.slug } };
  for (;;) {
    const { status, text } = await call(api.processes[0]?.baseUrl ?? '', 'POST', '/verify', request);
    if (status !== 503) return (JSON.parse(text) as { decision: string }).decision;
  }
};

it(`${SLUGS + CONTESTED} concurrent sign-ups, some for the same slug, with PostgreSQL killed: no partial tenant, no key twice`, async () => {
  const slugs = Array.from({ length: SLUGS }, () => randomSlug('t'));
  const answers: Answer[] = [];
  let killed: Promise<void> | undefined;
  const killAndRestart = async () => {
    cluster.signal('SIGKILL');
    await cluster.restart();
  };
  /** Repeats until it is answered, as the console does. */
  const signUpAtLast = async (slug: string, node: number): Promise<void> => {
    for (let attempt = node; ; attempt++) {
      const answer = await signUp(slug, attempt);
      answers.push(answer);
      if (answers.length === KILLED_AFTER) killed = killAndRestart();
      if (answer.status !== 503) return;
      await killed;
    }
  };
  await Promise.all([...slugs, ...slugs.slice(0, CONTESTED)].map(signUpAtLast));
  expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual([201, 409, 503]);

  sql = new Client({ connectionString: cluster.url });
  await sql.connect();
  const { rows: tenants } = await sql.query(
    `select o.slug, t.relying_party as did,
      (select count(*) from relying_parties rp where rp.org_id = o.org_id)::int as rps,
      (select array_agg(k.role order by k.role) from api_keys k
        where k.subject in (o.org_id, t.relying_party)) as keys,
      (select array_agg(a.action order by a.action) from audit_events a
        where a.request_id = (select request_id from audit_events where target = t.relying_party)) as acts
    from orgs o left join self_serve_tenants t on t.org_id = o.org_id`,
  );
  expect(tenants.map(({ slug }) => slug).toSorted()).toEqual(slugs.toSorted());
  for (const tenant of tenants)
    expect(tenant).toEqual({
      slug: tenant.slug,
      did: `did:web:svc.test:rp:${tenant.slug}`,
      rps: 1,
      keys: ['org:admin', 'rp'],
      acts: ['api_key.create', 'grant.allocate', 'relying_party.create'],
    });
  const { rows: days } = await sql.query('select sum(sign_ups)::int as n from self_serve_days');
  expect(days).toEqual([{ n: SLUGS }]);

  const bundles = answers.flatMap(({ status, text }) => (status === 201 ? [JSON.parse(text) as Bundle] : []));
  const keys = bundles.flatMap((bundle) => [bundle.org_admin_key, bundle.rp_verify_key]);
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(bundles.map(({ org }) => org.slug)).size).toBe(bundles.length);
  const decisions: string[] = [];
  for (const bundle of bundles) decisions.push(await verifyAtLast(bundle));
  expect(decisions).toEqual(bundles.map(() => 'ALLOW'));
}, 60_000);
