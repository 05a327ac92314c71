/** The whole content of a database, without what differs between two equal runs: times, random ids, signatures. */
import pg from 'pg';

/** Columns that jobs fill depending on the time or on a signature. Everything else must be equal. */
const VARYING: Readonly<Record<string, readonly string[]>> = {
  audit_events: ['event_id', 'occurred_at'],
  checkpoints: ['jws', 'hash', 'created_at'],
  closed_days: ['closed_at'],
  conformance_runs: ['finished_at'],
  content_checks: ['checked_at'],
  evidence: ['hash', 'body', 'created_at'],
  evidence_naming: ['named_before'],
  // Values of identity columns are also used up by transactions that are rolled back.
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

/**
 * Columns that depend on the order of the jobs in a round, and on when the clock was read: even whether they are set
 * differs.
 */
const BY_ORDER: Readonly<Record<string, readonly string[]>> = {
  clock_mark: ['marked_at'],
  loose_evidence: ['unused_since'],
};

/** Rows by table, each as sorted JSON text; of varying columns only whether they are set. Partitions by name. */
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
