/** Closed days, their Merkle tiles and their checkpoints. Published rows never change (triggers refuse it). */
import { HASH_BYTES, TILE_HASHES } from '@svc/merkle';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import {
  type CheckpointRecord,
  type CheckpointRepository,
  type Day,
  type LeafRun,
  type LeafStart,
  StoreError,
  type TileRecord,
} from '@svc/service';
import { againIfMoved, type ColdReader, type Question } from '../cold/cold-reader.ts';
import type { NamedDay } from '../cold/open-days.ts';
import { type Database, readValue, writeValue } from '../database.ts';
import { idsOfDay } from '../receipt-ids.ts';

/** Columns of `CheckpointRecord`. */
export const checkpointColumns = `day::text as day, tree_size as "treeSize", root, previous_root as "previousRoot",
  first_receipt_id as "firstReceiptId", last_receipt_id as "lastReceiptId", kid, jws, hash,
  content_root as "contentRoot", svc_ms(created_at) as "createdAtMs"`;

/** A condition on `checkpoints`: days whose receipts are in the ledger as they were published. */
const IS_CHECKED = `not exists (select from restores where checkpoints.day = any (reinstated_days))
  and not exists (select from cold_days as c where c.day = checkpoints.day and c.state = 'cold')`;

const tileColumns = `level, index, hashes, first_receipt_ids as "firstReceiptIds"`;

export function checkpointRepository(database: Database, cold: ColdReader): CheckpointRepository {
  const ledger = { database, cold };
  const findOne = async (where: string, values: readonly unknown[]): Promise<CheckpointRecord | null> => {
    const text = `select ${checkpointColumns} from checkpoints where ${where}`;
    return (await database.read<CheckpointRecord>({ text, values }))[0] ?? null;
  };
  const find = (day: Day) => findOne('day = $1', [day]);
  return {
    async firstDay() {
      const text = 'select first_day::text as value from deployment';
      const day = await readValue<Day>(database, text);
      if (day === undefined) throw new StoreError('refused', 'the deployment has no first day');
      return day;
    },
    findLatest: () => findOne('true order by day desc limit 1', []),
    find,
    async count() {
      const text = 'select count(*)::integer as value from checkpoints';
      return (await readValue<number>(database, text)) ?? 0;
    },
    list: (after, limit) =>
      database.read<CheckpointRecord>({
        text: `select ${checkpointColumns} from checkpoints where $1::date is null or day > $1 order by day limit $2`,
        values: [after, limit],
      }),
    async closeDay(day) {
      const text = 'select svc_close_day($1) as value';
      return (await writeValue<boolean>(database, text, [day])) ?? false;
    },
    listLeaves: (day, start, limit) =>
      againIfMoved(ledger, (question) => listLeaves(question, 'content_hash', day, start, limit)),
    listReceiptIds: (day, start, limit) =>
      againIfMoved(ledger, (question) => listReceiptIds(question, day, start, limit)),
    listLeavesAgain: (day, start, limit) =>
      againIfMoved(ledger, (question) =>
        listLeaves(question, `sha256(convert_to(jws, 'UTF8'))`, day, start, limit),
      ),
    async insert(checkpoint, tiles) {
      const [row] = await database.write<{ inserted: number }>(insertStatement(checkpoint, tiles));
      if (row?.inserted === 1) return true;
      if ((await find(checkpoint.day)) !== null) return false;
      throw new StoreError('conflict', `${checkpoint.day} does not follow the root of the day before`);
    },
    async findTile(day, level, index) {
      const text = `select ${tileColumns} from merkle_tiles where day = $1 and level = $2 and index = $3`;
      return (await database.read<TileRecord>({ text, values: [day, level, index] }))[0] ?? null;
    },
    async findLeafTile(day, receiptId) {
      const [tile] = await database.read<{ index: number; ids: ReceiptId[] }>({
        text: `select index, first_receipt_ids as ids from merkle_tiles
          where day = $1 and level = 1 and first_receipt_ids[1] <= $2
          order by first_receipt_ids[1] desc limit 1`,
        values: [day, receiptId],
      });
      const place = tile?.ids.findLastIndex((first) => first <= receiptId) ?? -1;
      const firstReceiptId = tile?.ids[place];
      if (tile === undefined || firstReceiptId === undefined) return null;
      return { index: tile.index * TILE_HASHES + place, firstReceiptId };
    },
    listDueForCheck: (hours, limit, except) =>
      database.read<CheckpointRecord>({
        text: `select ${checkpointColumns} from checkpoints
          left join content_checks using (day)
          where (checked_at is null or checked_at < clock_timestamp() - make_interval(hours => $1))
            and day <> all ($3::date[]) and ${IS_CHECKED}
          order by checked_at nulls first, day limit $2`,
        values: [hours, limit, except],
      }),
    async oldestCheckMs() {
      const text = `select svc_ms(min(coalesce(checked_at, created_at))) as value from checkpoints
        left join content_checks using (day) where ${IS_CHECKED}`;
      return (await readValue<number | null>(database, text)) ?? null;
    },
    async recordCheck(day, isIntact) {
      await database.write({
        text: `insert into content_checks (day, checked_at, is_intact) values ($1, clock_timestamp(), $2)
          on conflict (day) do update set checked_at = excluded.checked_at, is_intact = excluded.is_intact`,
        values: [day, isIntact],
      });
    },
    async listBroken() {
      const text =
        'select day::text as day from content_checks where not is_intact order by content_checks.day';
      return (await database.read<{ day: Day }>({ text, values: [] })).map(({ day }) => day);
    },
  };
}

const RECEIPT_ID_LENGTH = 30;

/** Ids and hashes of one run of a day in the database; for a cold day the hash of its manifest. */
interface RunRow {
  readonly ids: string | null;
  readonly hashes: Buffer | null;
  readonly cold: Sha256 | null;
}

interface Run {
  readonly at: string;
  readonly after: string;
  readonly limit: number;
}

const runOf = (start: LeafStart, limit: number): Run => ({
  at: start !== null && 'at' in start ? start.at : '',
  after: start !== null && 'after' in start ? start.after : '',
  limit,
});

/**
 * Ids and hashes have a fixed length, so a whole run arrives as two values. `contentHash` null: the run has no hashes.
 */
const readRun = async (
  { database }: Question,
  contentHash: string | null,
  day: Day,
  { at, after, limit }: Run,
): Promise<RunRow> => {
  const [row] = await database.read<RunRow>({
    text: `select string_agg(receipt_id, '' order by receipt_id) as ids,
        string_agg(content_hash, ''::bytea order by receipt_id) as hashes,
        (select manifest_hash from cold_days where day = $6 and state = 'cold') as cold
      from (select receipt_id, ${contentHash ?? 'null::bytea'} as content_hash from receipts
        where receipt_id >= $1 and receipt_id < $2 and receipt_id >= $3 and receipt_id > $4
        order by receipt_id limit $5) as run`,
    values: [...idsOfDay(day), at, after, limit, day],
  });
  return row ?? { ids: null, hashes: null, cold: null };
};

const idsOf = ({ ids }: RunRow): ReceiptId[] =>
  Array.from(
    { length: (ids?.length ?? 0) / RECEIPT_ID_LENGTH },
    (_, i) => ids?.slice(i * RECEIPT_ID_LENGTH, (i + 1) * RECEIPT_ID_LENGTH) as ReceiptId,
  );

async function listLeaves(
  question: Question,
  contentHash: string,
  day: Day,
  start: LeafStart,
  limit: number,
): Promise<LeafRun> {
  const run = runOf(start, limit);
  const row = await readRun(question, contentHash, day, run);
  if (row.cold !== null) return listColdLeaves(question, { day, hash: row.cold }, run);
  const receiptIds = idsOf(row);
  const hashes = row.hashes ?? Buffer.alloc(0);
  return {
    receiptIds,
    contentHashes: receiptIds.map((_, i) => hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)),
  };
}

async function listReceiptIds(
  question: Question,
  day: Day,
  start: LeafStart,
  limit: number,
): Promise<ReceiptId[]> {
  const run = runOf(start, limit);
  const row = await readRun(question, null, day, run);
  return row.cold === null ? idsOf(row) : listColdIds(question, { day, hash: row.cold }, run);
}

/**
 * Lists ids of a cold day; of each row group only the ids are decoded. After a given Receipt, whole groups are listed
 * as far as they fit, so that the next run begins with a group.
 */
const listColdIds = (question: Question, named: NamedDay, run: Run): Promise<ReceiptId[]> =>
  question.cold.read(question, named, async (day, signal) => {
    const found: ReceiptId[] = [];
    for await (const { rows } of day.ids(run, signal)) {
      for (const { receipt_id: id } of rows) {
        found.push(id as ReceiptId);
        if (found.length === run.limit) return found;
      }
      // Assumes that the next group is as large as this one.
      if (run.after !== '' && rows.length > 0 && found.length + rows.length > run.limit) return found;
    }
    return found;
  });

/** The hashes are of the stored contents, whichever hashes the caller asks for. */
const listColdLeaves = (question: Question, named: NamedDay, run: Run): Promise<LeafRun> =>
  question.cold.read(question, named, async (day, signal) => {
    const receiptIds: ReceiptId[] = [];
    const contentHashes: Uint8Array[] = [];
    for await (const { rows } of day.leaves(run, signal))
      for (const { receipt_id: id, jws } of rows) {
        receiptIds.push(id as ReceiptId);
        contentHashes.push(Buffer.from(jws, 'hex'));
        if (receiptIds.length === run.limit) return { receiptIds, contentHashes };
      }
    return { receiptIds, contentHashes };
  });

// The previous day must be the one that is named, unless this is the first day of all.
const insertSql = `
  with inserted as (
    insert into checkpoints (day, tree_size, root, previous_day, previous_root, first_receipt_id, last_receipt_id,
      kid, jws, hash, content_root)
    select $1::date, $2, $3, previous.day, $4, $5, $6, $7, $8, $9, $10
    from deployment left join checkpoints previous on previous.day = $1::date - 1
    where previous.root = $4 or ($4::text is null and $1::date = deployment.first_day)
    on conflict (day) do nothing
    returning day
  ), tiled as (
    insert into merkle_tiles (day, level, index, hashes, first_receipt_ids)
    select inserted.day, tile.level, tile.index, tile.hashes,
      case when tile.ids <> '' then string_to_array(tile.ids, ',') end
    from inserted, unnest($11::smallint[], $12::integer[], $13::bytea[], $14::text[])
      as tile (level, index, hashes, ids)
  )
  select count(*)::integer as inserted from inserted`;

const insertStatement = (
  checkpoint: Omit<CheckpointRecord, 'createdAtMs'>,
  tiles: readonly TileRecord[],
) => ({
  text: insertSql,
  values: [
    ...checkpointValues(checkpoint),
    tiles.map(({ level }) => level),
    tiles.map(({ index }) => index),
    tiles.map(({ hashes }) => Buffer.from(hashes)),
    tiles.map(({ firstReceiptIds }) => firstReceiptIds?.join(',') ?? ''),
  ],
});

/** In the order of the columns in statements that insert a checkpoint. */
export const checkpointValues = (checkpoint: Omit<CheckpointRecord, 'createdAtMs'>): readonly unknown[] => [
  checkpoint.day,
  checkpoint.treeSize,
  checkpoint.root,
  checkpoint.previousRoot,
  checkpoint.firstReceiptId,
  checkpoint.lastReceiptId,
  checkpoint.kid,
  checkpoint.jws,
  checkpoint.hash,
  checkpoint.contentRoot,
];
