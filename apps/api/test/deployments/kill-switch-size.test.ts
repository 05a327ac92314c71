/** The kill switch at 100,000 Grants in several lists: complete, in one call (interface §Agent, protocol §9). */
import { randomBytes } from 'node:crypto';
import { encodeUlid } from '@svc/protocol';
import { sampled } from '@svc/testkit/sampled';
import { beforeAll, expect, it } from 'vitest';
import { withSeparateNodes } from '../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const GRANTS = sampled({ quick: 5_000, deep: 100_000 });

const deployment = withSeparateNodes();
let tenants: Tenants;
let stored: string[];

/** Inserts rows by SQL as allocations leave them; the last Grant is a real one. */
beforeAll(async () => {
  tenants = await deployment.createTenants();
  const { principalDid, agent } = tenants;
  const start = Date.now() - 3_600_000;
  const ids = Array.from(
    { length: GRANTS - 1 },
    (_, i) => `urn:svc:grant:${encodeUlid(start + Math.floor(i / 50), randomBytes(10))}`,
  );
  await deployment.sql.query(
    `insert into grants (id, principal, agent, status_list_url, status_index)
     select n.id, $1, $2, l.url, 131072 - n.ordinal
     from status_lists l, unnest($3::text[]) with ordinality as n (id, ordinal) where l.principal = $1`,
    [principalDid, agent.did, ids],
  );
  await deployment.sql.query('analyze grants');
  stored = ids;
}, 120_000);

it(`disabling an Agent with ${GRANTS} Grants revokes them all in one call, which lists them in order`, async () => {
  // The entries of the rows above are taken.
  await deployment.sql.query('update status_lists set next_ordinal = size_bits where principal = $1', [
    tenants.principalDid,
  ]);
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const path = `/agents/${encodeURIComponent(tenants.agent.did)}/disable`;
  const { status, json } = await deployment.call('POST', path, { key: tenants.principalKey });
  expect(status).toBe(200);
  const revoked = json.revoked_grants as string[];
  const expected = [...stored, grant.grantId].sort();
  expect(revoked.length).toBe(GRANTS);
  expect(revoked.every((id, i) => id === expected[i])).toBe(true);

  const { rows } = await deployment.sql.query(
    `select count(*)::int as grants, count(revocation_recorded_at)::int as recorded,
       count(distinct revoked_at)::int as stamps, (extract(epoch from min(revoked_at)) * 1000)::bigint::text as stamp
     from grants where principal = $1 and revoked_at is not null`,
    [tenants.principalDid],
  );
  expect(rows).toEqual([
    {
      grants: GRANTS,
      recorded: GRANTS,
      stamps: 1,
      stamp: String(Date.parse(String(json.disabled_at))),
    },
  ]);
  expect(
    (
      await deployment.sql.query(
        'select sum(bit_count(bits))::int as ones from status_lists where principal = $1',
        [tenants.principalDid],
      )
    ).rows,
  ).toEqual([{ ones: GRANTS }]);
  const { reason } = receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
  expect(reason).toBe('AUTHORITY_REVOKED');
  const { rows: audit } = await deployment.sql.query(
    `select details->'revoked_grants' as grants, details->'status_lists' as lists
     from audit_events where action = 'agent.disable'`,
  );
  expect(audit).toEqual([{ grants: GRANTS, lists: 2 }]);
}, 120_000);
