/** All that a database holds, without what two runs that did the same must differ in: times, random ids, signatures. */
import pg from 'pg';

/** What jobs write into a row that depends on when, or by which signature, they did it. Everything else must be equal. */
const VARYING: Readonly<Record<string, readonly string[]>> = {
  audit_events: ['event_id', 'occurred_at'],
  checkpoints: ['jws', 'hash', 'created_at'],
  closed_days: ['closed_at'],
  conformance_runs: ['finished_at'],
  content_checks: ['checked_at'],
  evidence: ['hash', 'body', 'created_at'],
  evidence_naming: ['named_before'],
  // Numbers of identity columns are used up by what is rolled back, too.
  fence_notes: ['noted_at', 'seq', 'version'],
  grants: ['revoked_at'],
  ledger_count: ['counted_before'],
  loose_evidence: ['hash'],
  ledger_seal: ['sealed_until', 'sealed_before'],
  migrations: ['ran_at'],
  principal_keys: ['since', 'created_at'],
  principals: [
    'verified_since',
    'last_checked_at',
    'last_proven_at',
    'document_hash',
    'document_resolved_at',
    'document_changes_since',
  ],
  retention: ['actions_cleared_before'],
  service_keys: ['first_seen_at'],
  status_lists: ['credential', 'credential_hash', 'valid_from'],
};

/** Which job of a round came first, and when the clock was read: whether it is set says nothing. */
const BY_ORDER: Readonly<Record<string, readonly string[]>> = {
  clock_mark: ['marked_at'],
  loose_evidence: ['unused_since'],
};

/** By table, each row as sorted JSON text; of what varies, only whether it is there. Partitions by name. */
export type WholeState = Readonly<Record<string, readonly string[]>>;

const TABLES = `
  select relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  order by 1`;
const PARTITIONS = `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass`;

export const readWholeState = async (databaseUrl: string): Promise<WholeState> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const names = async (text: string) =>
      (await client.query<{ name: string }>(text)).rows.map(({ name }) => name).sort();
    const state: Record<string, readonly string[]> = { partitions: await names(PARTITIONS) };
    for (const table of await names(TABLES)) {
      const { rows } = await client.query<{ row: Record<string, unknown> }>(
        `select to_jsonb(t) as row from ${table} as t`,
      );
      const [varying, left] = [VARYING[table] ?? [], BY_ORDER[table] ?? []];
      state[table] = rows.map(({ row }) => JSON.stringify(masked(row, varying, left))).sort();
    }
    return state;
  } finally {
    await client.end();
  }
};

const masked = (row: Record<string, unknown>, varying: readonly string[], left: readonly string[]) =>
  Object.entries(row)
    .filter(([name]) => !left.includes(name))
    .map(([name, value]) => [name, varying.includes(name) ? value !== null : value]);
