/**
 * Compares what the database still holds of a cold day with the day's objects: sums of usage, days of Grants,
 * verifications by relying party, revocations, relying parties and their keys, attestations and consumption events.
 * Attestations and events are compared whether they are packed or not: those reported after the day was packed are only
 * in the database. Their Receipt must exist, with the same relying party, Principal, time and decision.
 */
import { type ColdDay, ColdDayReader, type ReceiptRow, ROW_ORDER, type TableName } from '@svc/cold-ledger';
import type { ObjectStore } from '@svc/service';
import { type CheckContext, reportRows } from '../check.ts';
import { isOfDay } from '../receipt-days.ts';
import { rowText, rowTextSql, textOf, withoutBlanks } from './row-text.ts';
import { attestationFaults, callerFaults, revocationFaults } from './rules.ts';

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

/** The columns of a Receipt that are compared. */
const COLUMNS = [
  'receipt_id',
  'relying_party',
  'principal',
  'grant_id',
  'agent',
  'decision',
  'evaluated_at',
  'reason',
] as const;

/**
 * Compares a batch of Receipts with what the database has of them, and finds rows for Receipts that are not in the
 * day's objects: ids after $1 up to $2 (null: to the end).
 */
const faultsOf = (day: string): string => {
  const within = (table: string) =>
    `(select * from ${table} where ${isOfDay(day)} and receipt_id > $1 and ($2::text is null or receipt_id <= $2))`;
  return `
  with batch as (
    select receipt_id, relying_party, principal, grant_id, agent, decision, to_timestamp(0) + us * interval '1 microsecond' as evaluated_at,
      reason
    from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[])
      as r (receipt_id, relying_party, principal, grant_id, agent, decision, us, reason)
  )
  select distinct '${day}' as "where", 'the Grant ' || r.grant_id || ' is named by its decisions, and is not kept as such' as problem
  from batch as r
  where r.grant_id is not null and not exists (
    select from usage_by_grant as u
    where u.grant_id = r.grant_id and u.principal is not distinct from r.principal and u.days @> date '${day}')
  union all
  select distinct '${day}', 'the Grant ' || r.grant_id || ' was verified, and by whom is not kept'
  from batch as r
  where r.grant_id is not null and r.principal is not null and not exists (
    select from cold_verifications as v
    where (v.grant_id, v.principal, v.relying_party) = (r.grant_id, r.principal, r.relying_party)
      and v.latest_receipt_id >= r.receipt_id)
  union all ${revocationFaults('batch')}
  union all ${attestationFaults(within('attestations'), 'batch')}
  union all
  select e.grant_id, 'version ' || e.version || ': there is no Receipt ' || e.receipt_id
  from ${within('consumption_events')} as e
  where e.cause = 'consume' and not exists (select from batch as r where r.receipt_id = e.receipt_id)`;
};

interface CallerCount {
  readonly by: readonly [relyingParty: string, keyId: string | null];
  /** Id of the caller's first Receipt. */
  readonly first: string;
  count: number;
}

/** Number of Receipts in one query. A query takes some milliseconds even for one. */
const BATCH = 512;

/** Takes every Receipt of one day in the order of their ids. */
export class ColdFacts {
  readonly #sums: Readonly<Record<What, Counts>> = { decisions: new Map(), 'production checks': new Map() };
  readonly #callers = new Map<string, CallerCount>();
  /** Receipts that have not been compared yet, with the columns of `COLUMNS`. */
  #batch: (readonly (string | null)[])[] = [];
  /** The last id that has been compared. */
  #last = '';

  constructor(
    private readonly context: CheckContext,
    private readonly day: string,
    private readonly size = BATCH,
  ) {}

  async add(receipts: readonly ReceiptRow[]): Promise<void> {
    for (const receipt of receipts) {
      const { receipt_id: id, relying_party: relyingParty, principal, key_id: keyId, reason } = receipt;
      add(this.#sums.decisions, [relyingParty, principal, keyId, reason]);
      if (receipt.production_check) add(this.#sums['production checks'], [relyingParty, keyId, reason]);
      const by = [relyingParty, keyId] as const;
      const caller = this.#callers.get(JSON.stringify(by)) ?? { by, first: id, count: 0 };
      caller.count += 1;
      this.#callers.set(JSON.stringify(by), caller);
      this.#batch.push(COLUMNS.map((column) => textOf(receipt[column])));
      if (this.#batch.length === this.size) await this.#compare(id);
    }
  }

  /** To be called after all Receipts have been added. */
  async end(): Promise<void> {
    await this.#compare(null);
    const callers = [...this.#callers.values()];
    await reportRows(this.context, callerFaults('unnest($1::text[], $2::text[], $3::text[], $4::bigint[])'), [
      callers.map(({ by }) => by[0]),
      callers.map(({ by }) => by[1]),
      callers.map(({ first }) => first),
      callers.map(({ count }) => count),
    ]);
    await this.#compareSums();
  }

  async #compare(until: string | null): Promise<void> {
    const columns = COLUMNS.map((_, i) => this.#batch.map((row) => row[i]));
    await reportRows(this.context, faultsOf(this.day), [this.#last, until, ...columns]);
    this.#batch = [];
    this.#last = until ?? this.#last;
  }

  async #compareSums(): Promise<void> {
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

export type BesideReceipts = Exclude<TableName, 'receipts'>;
export const BESIDE_RECEIPTS = ['attestations', 'consumption_events'] as const satisfies BesideReceipts[];

type Values = Readonly<Record<string, unknown>>;
const secondOf = (table: BesideReceipts, row: object): number => Number((row as Values)[ROW_ORDER[table]]);

/** Identifies a row of a Receipt. */
export const placeOf = (table: BesideReceipts, row: { readonly receipt_id: string }): string =>
  `${row.receipt_id} ${secondOf(table, row)}`;

/** Checks that every packed row is in the database with the same content, and was packed once. */
export const comparePacked = async (
  { query, report }: CheckContext,
  objects: ObjectStore,
  manifest: ColdDay,
): Promise<void> => {
  const reader = new ColdDayReader(objects, manifest);
  for (const table of BESIDE_RECEIPTS) {
    const text = `select receipt_id as id, ${ROW_ORDER[table]}::text as second, ${rowTextSql(table)} as row
      from ${table} where receipt_id = any ($1)`;
    let last = { id: '', second: 0 };
    for await (const rows of reader.rows(table)) {
      const ids = [...new Set(rows.map((row) => row.receipt_id))];
      const found = await query<{ id: string; second: string; row: string }>(text, [ids]);
      const stored = new Map(found.map(({ id, second, row }) => [`${id} ${second}`, withoutBlanks(row)]));
      for (const row of rows) {
        const place = placeOf(table, row);
        const kept = stored.get(place);
        const say = (problem: string) => report(manifest.day, `${NAMES[table]} ${place} ${problem}`);
        if (kept === undefined) say('is not in the database');
        else if (kept !== rowText(table, row)) say('was packed otherwise than the database has it');
        else if (row.receipt_id === last.id && secondOf(table, row) <= last.second)
          say('was packed twice, or out of order');
        last = { id: row.receipt_id, second: secondOf(table, row) };
      }
    }
  }
};

const NAMES: Readonly<Record<BesideReceipts, string>> = {
  attestations: 'the attestation',
  consumption_events: 'the consumption event',
};
