import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, denyCommit, newAuditId, newOutcome, type World } from '@svc/testkit/store/world';
import { beforeAll, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;

beforeAll(async () => {
  world = await createWorld(stores.first);
  const decision = denyCommit(world);
  await stores.first.verify.commitDecisions([decision]);
  await stores.first.outcomes.insert(newOutcome(decision.receiptId, 1), null);
  await stores.first.audit.insert({
    eventId: newAuditId(),
    actor: { kind: 'admin', did: null, keyId: null },
    action: 'principal.create',
    target: world.principal.did,
    requestId: 'request-1',
    details: { kind: 'hosted', attempts: 1 },
  });
  await runSql(stores.url, `insert into closed_days (day) values ('2001-01-01')`);
});

const firstPartition = `(select inhrelid::regclass from pg_inherits where inhparent = 'receipts'::regclass limit 1)`;

describe.each(['receipts', 'attestations', 'audit_events', 'evidence', 'closed_days'])('%s', (table) => {
  const firstColumn = {
    receipts: 'jws',
    attestations: 'note',
    audit_events: 'action',
    evidence: 'content_type',
    closed_days: 'day',
  }[table];

  it.each([
    `update ${table} set ${firstColumn} = ${firstColumn}`,
    `delete from ${table}`,
    `truncate ${table} cascade`,
  ])('refuses: %s', async (statement) => {
    await expect(runSql(stores.url, statement)).rejects.toThrow('append-only');
  });

  it('keeps its rows after these refusals', async () => {
    const [row] = await runSql<{ count: string }>(stores.url, `select count(*) from ${table}`);
    expect(Number(row?.count)).toBeGreaterThan(0);
  });
});

it('a partition of receipts is append-only under its own name too', async () => {
  const [row] = await runSql<{ name: string }>(stores.url, `select ${firstPartition}::text as name`);
  await expect(runSql(stores.url, `truncate ${row?.name}`)).rejects.toThrow('append-only');
  const [today] = await runSql<{ name: string }>(
    stores.url,
    'select tableoid::regclass::text as name from receipts',
  );
  await expect(runSql(stores.url, `delete from ${today?.name}`)).rejects.toThrow('append-only');
});

it('evidence whose hash differs from that of its bytes is refused', async () => {
  const hash = `sha256:${'0'.repeat(64)}`;
  const insert = runSql(
    stores.url,
    `insert into evidence (hash, content_type, body) values ($1, 'text/plain', 'x')`,
    [hash],
  );
  await expect(insert).rejects.toThrow('hash_is_of_body');
});

it('an audit event is stored as it was given', async () => {
  const rows = await runSql(
    stores.url,
    `select actor_kind, actor_did, action, target, request_id, details, occurred_at <= clock_timestamp() as past
     from audit_events where action = 'principal.create'`,
  );
  expect(rows).toEqual([
    {
      actor_kind: 'admin',
      actor_did: null,
      action: 'principal.create',
      target: world.principal.did,
      request_id: 'request-1',
      details: { kind: 'hosted', attempts: 1 },
      past: true,
    },
  ]);
});
