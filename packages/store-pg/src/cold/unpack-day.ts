/**
 * Brings a cold day back into the ledger, as the owner of the schema. All of it is one transaction: if it is cut off at
 * any point, the day is cold as before.
 */
import { createHash } from 'node:crypto';
import { setTimeout as realPause } from 'node:timers/promises';
import { COLUMNS_AS_READ, type ColdDayReader, type ReceiptRow } from '@svc/cold-ledger';
import { CompactRange, formatHash, hashLeaf } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import { type Day, StoreError } from '@svc/service';
import { clientConfig, openClient } from '../client.ts';
import { toStoreError } from '../errors.ts';
import { idsOfDay, tableOfDay } from '../receipt-ids.ts';
import { holdersSql } from '../repositories/cold-days.ts';

/**
 * Limit of a statement, such as building an index over a day of 10^7 Receipts. Also the longest wait for the object
 * store between two statements.
 */
const STATEMENT_MS = 600_000;
const CONNECT_MS = 5_000;
const ROWS = 2_048;

export interface UnpackDay {
  readonly databaseUrl: string;
  readonly day: Day;
  /** Opens the day's objects by its manifest. */
  readonly open: (manifest: string) => Pick<ColdDayReader, 'receipts'>;
  /**
   * Source of a day that has left the ledger. `objects` removes what is kept beside the ledger; `kept` reads no object.
   * Default: what is kept, if it matches what was published, otherwise the objects.
   */
  readonly from?: 'kept' | 'objects' | undefined;
  /** Waits between two tries to lock the ledger. Default: the system's timer. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** How often it tries to lock the ledger. Default: 20 times. */
  readonly attempts?: number;
}

/**
 * Answers where the day came from: `ledger` (it had not left yet), `kept` (what was kept beside the ledger), or
 * `objects`. The rows brought back match the day's published roots. Rejects where they do not or the day is not packed,
 * and with `StoreError` where the database fails or this role may not do it. Nothing is changed then.
 */
export const unpackDay = async ({
  databaseUrl,
  day,
  open,
  from: wanted,
  pause = realPause,
  attempts = ATTEMPTS,
}: UnpackDay): Promise<'ledger' | 'kept' | 'objects'> => {
  const settings = { idle_in_transaction_session_timeout: `${STATEMENT_MS}`, lock_timeout: '10s' };
  const session = await openClient({
    ...clientConfig(databaseUrl, STATEMENT_MS, settings),
    connectionTimeoutMillis: CONNECT_MS,
    // No event is moved while this transaction is open (`svc_move_events`). An operator who looks for the cause sees
    // this name.
    application_name: 'svc-admin ledger unpack',
  }).catch((error: unknown) => {
    throw toStoreError(error, 'nothing');
  });
  const ask: Ask = async (text, values = []) => {
    try {
      return (await session.query(text, [...values])).rows;
    } catch (error) {
      throw toStoreError(error, 'nothing');
    }
  };
  try {
    await dropEmptyPartition(ask, day, { pause, attempts });
    await ask('begin isolation level read committed');
    const found = await lockDay(ask, day);
    const from = found.state === 'recorded' ? 'ledger' : await bringBack(ask, found, open, wanted);
    // The job that clears old actions has passed this part of the ledger already.
    await ask(
      `update ${tableOfDay(day)} set action_type = null, amount = null, currency = null, resource = null, method = null
       where receipt_id < svc_lowest_receipt_id(svc_actions_kept_since())
         and num_nonnulls(action_type, amount, currency, resource, method) > 0`,
    );
    await ask(
      `update cold_days set state = 'unpacked', problem = null, detached_at = null, dropped_at = null, cleared_at = null, cleared_before = null
       where day = $1`,
      [day],
    );
    await ask('commit');
    return from;
  } finally {
    session.destroy();
  }
};

type Ask = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

interface PackedDay {
  readonly day: Day;
  readonly state: string;
  readonly manifest: string;
  readonly isKept: boolean;
  readonly root: string;
  readonly contentRoot: string;
}

const lockDay = async (ask: Ask, day: Day): Promise<PackedDay> => {
  const [found] = await ask<PackedDay>(
    `select d.day::text as day, state, manifest, to_regclass('detached_' || $2) is not null as "isKept", root, content_root as "contentRoot"
     from cold_days as d join checkpoints using (day) where d.day = $1 for update of d`,
    [day, tableOfDay(day)],
  );
  if (found === undefined || !['recorded', 'cold'].includes(found.state))
    throw new Error(`${day} is not packed: ${found?.state ?? 'it is hot, or no closed day'}`);
  return found;
};

const isThere = async (ask: Ask, table: string): Promise<boolean> =>
  (await ask<{ is: boolean }>('select to_regclass($1) is not null as is', [table]))[0]?.is === true;

const ATTEMPTS = 20;
const PAUSE_MS = 250;

/**
 * A cold day may have an empty partition, which blocks the rows that come back. Dropping it locks the whole ledger
 * until its transaction ends, and no decision is stored meanwhile. So it is done in a transaction of its own, which
 * waits shortly and retries often.
 */
const dropEmptyPartition = async (
  ask: Ask,
  day: Day,
  { pause, attempts }: Required<Pick<UnpackDay, 'pause' | 'attempts'>>,
): Promise<void> => {
  const table = tableOfDay(day);
  for (let attempt = 1; await isThere(ask, table); attempt++)
    try {
      await ask('begin isolation level read committed');
      const cold = await ask(`select from cold_days where day = $1 and state = 'cold' for share`, [day]);
      // On any other day the table holds the day's Receipts, even if there are none.
      if (cold.length > 0) await dropIfEmpty(ask, table, day);
      await ask('commit');
      return;
    } catch (error) {
      await ask('rollback');
      if (!(error instanceof StoreError) || error.kind !== 'lock_timeout') throw error;
      if (attempt === attempts) {
        const holders = (await ask<{ holder: string }>(holdersSql, [day]))
          .map(({ holder }) => holder)
          .join('; ');
        throw new Error(
          `${table} is empty and could not be removed: ${day} stays cold. Locks of the ledger are held by ${holders || 'nobody any more'}`,
          { cause: error },
        );
      }
      await pause(PAUSE_MS * (0.5 + Math.random()));
    }
};

const dropIfEmpty = async (ask: Ask, table: string, day: Day): Promise<void> => {
  await ask(`set local lock_timeout = '100ms'`);
  // In the order in which all code takes these locks.
  await ask('lock table only receipts in access exclusive mode');
  await ask(`lock table ${table} in access exclusive mode`);
  const rows = await ask(`select from ${table} limit 1`);
  if (rows.length > 0) throw new Error(`${table} has Receipts, although ${day} has left the ledger`);
  await ask(`drop table ${table}`);
};

const bringBack = async (
  ask: Ask,
  found: PackedDay,
  open: UnpackDay['open'],
  wanted: UnpackDay['from'],
): Promise<'kept' | 'objects'> => {
  const { day, isKept, manifest } = found;
  const table = tableOfDay(day);
  if (await isThere(ask, table))
    throw new Error(`${table} was made again meanwhile: ${day} stays cold. Try again`);
  if (wanted === 'kept' && !isKept)
    throw new Error(`nothing of ${day} is kept beside the ledger: it stays cold`);
  if (isKept && wanted === 'objects') await ask(`drop table detached_${table}`);
  else if (isKept) {
    await ask('savepoint kept');
    await ask(`drop trigger refuse_change on detached_${table}`);
    await ask(`alter table detached_${table} rename to ${table}`);
    const [firstId, endId] = idsOfDay(day);
    await ask(
      `alter table receipts attach partition ${table} for values from ('${firstId}') to ('${endId}')`,
    );
    if (await isPublished(ask, found)) return 'kept';
    if (wanted === 'kept')
      throw new Error(`what is kept of ${day} does not lead to its roots: it stays cold`);
    await ask('rollback to savepoint kept');
    await ask(`drop table detached_${table}`);
  }
  await ask('select svc_ensure_receipt_partitions($1, $1)', [day]);
  for await (const rows of open(manifest).receipts())
    for (let at = 0; at < rows.length; at += ROWS) await insert(ask, table, rows.slice(at, at + ROWS));
  if (!(await isPublished(ask, found)))
    throw new Error(
      `the objects of ${day} do not lead to its roots: it stays cold. svc-admin ledger verify says more`,
    );
  return 'objects';
};

const COLUMNS = COLUMNS_AS_READ.receipts;
const TYPES: Readonly<Record<string, string>> = {
  text: 'text',
  integer: 'bigint',
  instant: 'bigint',
  flag: 'boolean',
};

const insert = (ask: Ask, table: string, rows: readonly ReceiptRow[]): Promise<unknown> => {
  const names = COLUMNS.map(([name]) => name);
  const arrays = COLUMNS.map(([, kind], i) => `$${i + 1}::${TYPES[kind.replace('?', '')]}[]`);
  const values = COLUMNS.map(([name, kind]) =>
    kind.startsWith('instant') ? `to_timestamp(0) + ${name} * interval '1 microsecond'` : name,
  );
  return ask(
    `insert into ${table} (${names.join(', ')}, content_hash)
     select ${values.join(', ')}, sha256(convert_to(jws, 'UTF8')) from unnest(${arrays.join(', ')}) as row (${names.join(', ')})`,
    names.map((name) => rows.map((row) => textOf((row as Readonly<Record<string, unknown>>)[name]))),
  );
};

/** An amount may exceed the safe integers. */
const textOf = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Whether the day's rows in the ledger match the published roots. */
const isPublished = async (ask: Ask, { day, root, contentRoot }: PackedDay): Promise<boolean> => {
  const ids = new CompactRange(nativeSha256);
  const contents = new CompactRange(nativeSha256);
  for (let after = ''; ; ) {
    const rows = await ask<{ id: string; jws: string }>(
      `select receipt_id as id, jws from ${tableOfDay(day)} where receipt_id > $1 order by receipt_id limit ${ROWS}`,
      [after],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const { id, jws } of rows) {
      ids.push(hashLeaf(id, nativeSha256));
      contents.push(hashLeaf(createHash('sha256').update(jws).digest(), nativeSha256));
    }
  }
  return (
    `sha256:${formatHash(ids.root())}` === root && `sha256:${formatHash(contents.root())}` === contentRoot
  );
};
