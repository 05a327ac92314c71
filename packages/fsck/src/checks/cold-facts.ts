/**
 * What the database still holds of a day that is read from its objects, against these: sums of usage, days of Grants, who verified what, and
 * the attestations and consumption events that were packed. What was reported after that is in the database alone.
 */
import { type ColdDay, ColdDayReader, type ReceiptRow, TABLES, type TableName } from '@svc/cold-ledger';
import type { ObjectStore } from '@svc/service';
import type { CheckContext } from '../check.ts';

type Counts = Map<string, number>;
type What = 'decisions' | 'production checks';

const add = (counts: Counts, key: readonly unknown[]): void => {
  const text = JSON.stringify(key);
  counts.set(text, (counts.get(text) ?? 0) + 1);
};

const STORED_SUMS = `
  select 'decisions' as what, json_build_array(relying_party, principal, key_id, reason)::text as key, verifies::float8 as count
  from usage_counts where day = $1
  union all
  select 'production checks', json_build_array(relying_party, key_id, reason)::text, production_checks::float8
  from usage_by_key where day = $1 and production_checks <> 0`;

const UNKNOWN_GRANTS = `
  select distinct r.grant_id as "where"
  from unnest($2::text[], $3::text[]) as r (grant_id, principal)
  where not exists (
    select from usage_by_grant as u
    where u.grant_id = r.grant_id and u.principal is not distinct from r.principal and u.days @> $1::date)`;

const UNKNOWN_VERIFIERS = `
  select distinct r.grant_id as "where"
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as r (grant_id, principal, relying_party, receipt_id)
  where r.principal is not null and not exists (
    select from cold_verifications as v
    where (v.grant_id, v.principal, v.relying_party) = (r.grant_id, r.principal, r.relying_party)
      and v.latest_receipt_id >= r.receipt_id)`;

/** Hears of every Receipt of one day, a batch at a time. */
export class ColdFacts {
  readonly #sums: Readonly<Record<What, Counts>> = { decisions: new Map(), 'production checks': new Map() };

  constructor(
    private readonly context: CheckContext,
    private readonly day: string,
  ) {}

  async add(receipts: readonly ReceiptRow[]): Promise<void> {
    for (const receipt of receipts) {
      const { relying_party: relyingParty, principal, key_id: keyId, reason } = receipt;
      add(this.#sums.decisions, [relyingParty, principal, keyId, reason]);
      if (receipt.production_check) add(this.#sums['production checks'], [relyingParty, keyId, reason]);
    }
    const named = receipts.filter((receipt) => receipt.grant_id !== null);
    const [grants, principals, relyingParties, ids] = (
      ['grant_id', 'principal', 'relying_party', 'receipt_id'] as const
    ).map((column) => named.map((receipt) => receipt[column]));
    await this.#reportAll(
      UNKNOWN_GRANTS,
      [this.day, grants, principals],
      'is named by its decisions, and is not kept as such',
    );
    await this.#reportAll(
      UNKNOWN_VERIFIERS,
      [grants, principals, relyingParties, ids],
      'was verified, and by whom is not kept',
    );
  }

  async #reportAll(text: string, values: readonly unknown[], problem: string): Promise<void> {
    for (const { where } of await this.context.query<{ where: string }>(text, values))
      this.context.report(this.day, `the Grant ${where} ${problem}`);
  }

  /** Once all have been added. */
  async compareSums(): Promise<void> {
    const { query, report } = this.context;
    const stored = await query<{ what: What; key: string; count: number }>(STORED_SUMS, [this.day]);
    const left = this.#sums;
    for (const { what, key, count } of stored) {
      const text = JSON.stringify(JSON.parse(key));
      const counted = left[what].get(text) ?? 0;
      left[what].delete(text);
      if (counted !== count)
        report(this.day, `stored are ${count} ${what}, its objects have ${counted}: ${text}`);
    }
    for (const [what, counts] of Object.entries(left))
      for (const [key, counted] of counts)
        report(this.day, `stored are 0 ${what}, its objects have ${counted}: ${key}`);
  }
}

/** What orders the rows of one Receipt. */
const SECOND = { attestations: 'ordinal', consumption_events: 'version' } as const;

/** Every packed row is in the database as it was packed. */
export const comparePacked = async (
  { query, report }: CheckContext,
  objects: ObjectStore,
  manifest: ColdDay,
): Promise<void> => {
  const reader = new ColdDayReader(objects, manifest);
  for (const table of ['attestations', 'consumption_events'] as const) {
    const columns = Object.entries(TABLES[table] as Readonly<Record<string, string>>);
    const list = columns.map(([name, kind]) =>
      kind.startsWith('instant') ? `(extract(epoch from ${name}) * 1000000)::bigint::text` : `${name}::text`,
    );
    const text = `select receipt_id as id, ${SECOND[table]}::text as second, json_build_array(${list.join()})::text as row
      from ${table} where receipt_id = any ($1)`;
    for await (const rows of reader.rows(table)) {
      const ids = [...new Set(rows.map((row) => row.receipt_id))];
      const found = await query<{ id: string; second: string; row: string }>(text, [ids]);
      const stored = new Map(
        found.map(({ id, second, row }) => [`${id} ${second}`, JSON.stringify(JSON.parse(row))]),
      );
      for (const row of rows) {
        const values = row as unknown as Readonly<Record<string, unknown>>;
        const place = `${row.receipt_id} ${String(values[SECOND[table]])}`;
        const packed = JSON.stringify(columns.map(([name]) => textOf(values[name])));
        const kept = stored.get(place);
        if (kept !== packed)
          report(
            manifest.day,
            `${NAMES[table]} ${place} ${kept === undefined ? 'is not in the database' : 'was packed otherwise than the database has it'}`,
          );
      }
    }
  }
};

const NAMES: Readonly<Record<Exclude<TableName, 'receipts'>, string>> = {
  attestations: 'the attestation',
  consumption_events: 'the consumption event',
};

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);
