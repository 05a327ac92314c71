/** Decisions in the form of lists. The columns are an index of the Receipt, never an authority. */
import { exportedText, type RowWithText } from '@svc/cold-ledger';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import {
  type ActRecord,
  type Day,
  type DecisionExportRecord,
  type DecisionRecord,
  type DecisionRepository,
  type ExportedForm,
  internal,
  type Verified,
} from '@svc/service';
import { againIfMoved, type ColdReader, findColdDays, type Question } from '../cold/cold-reader.ts';
import { type Database, readValue } from '../database.ts';
import { ACTED, actOf, decisionOf, SHOWN, type Shape } from '../decision-search/cold-days.ts';
import {
  byDescendingId,
  type RowWithId,
  searchHotDays,
  searchPage,
} from '../decision-search/search-decisions.ts';
import { byIdsStatements } from '../decision-search/statements.ts';
import { dayOfId } from '../receipt-ids.ts';

const id = 'receipt_id as "receiptId"';
const act = `${id}, decision, reason, svc_ms(evaluated_at) as "evaluatedAtMs", grant_id as "grantId", agent,
  relying_party as "relyingParty", amount, currency`;
const summary = `${act}, principal, key_id as "keyId", action_type as "actionType", resource, method`;

/** An outcome record has some 400 characters besides its texts. */
const exported = `${summary}, jws,
  (select coalesce(sum(400 + length(concat(evidence_ref, note, reporter_signature))), 0)
   from attestations a where a.receipt_id = receipts.receipt_id) as "outcomeChars"`;

const IDS: Shape<RowWithId> = {
  sql: id,
  columns: [],
  rowOf: ({ receipt_id: receiptId }) => ({ receiptId: receiptId as ReceiptId }),
};
const ACTS: Shape<ActRecord> = { sql: act, columns: ACTED, rowOf: actOf };
const SUMMARIES: Shape<DecisionRecord> = { sql: summary, columns: SHOWN, rowOf: decisionOf };

export function decisionRepository(database: Database, cold: ColdReader): DecisionRepository {
  const ledger = { database, cold };
  return {
    list: (filter, limit) => searchPage(ledger, filter, SUMMARIES, limit),
    listActs: (filter, limit) => searchPage(ledger, filter, ACTS, limit),
    async listIds(filter, limit) {
      const { items, ...page } = await searchPage(ledger, filter, IDS, limit);
      return { ...page, items: items.map(({ receiptId }) => receiptId) };
    },
    // A day that goes cold meanwhile is covered: its verifications are stored before the day leaves.
    hasVerified: async (verified) =>
      (await searchHotDays(ledger, verified, IDS, 1)).length > 0 || hasVerifiedCold(database, verified),
    cutForExport: (ids) => againIfMoved(ledger, (question) => cutForExport(question, ids)),
    listForExport: (ids, form) => againIfMoved(ledger, (question) => listForExport(question, ids, form)),
  };
}

const verifiedColdSql = `
  select exists (
    select from cold_verifications where grant_id = $1 and principal = $2 and relying_party = any ($3::text[])
  ) as value`;

async function hasVerifiedCold(
  database: Database,
  { grantId, principal, relyingParties }: Verified,
): Promise<boolean> {
  const values = [grantId, principal, relyingParties];
  return (await readValue<boolean>(database, verifiedColdSql, values)) ?? false;
}

/** Rows of one read from the database: some 0.5 MB. */
const PIECE_ROWS = 128;

/** Cuts ids into pieces for export, so that each row group is decoded only once. */
async function cutForExport(question: Question, ids: readonly ReceiptId[]): Promise<ReceiptId[][]> {
  const hashes = await findColdDays(question.database, [...new Set(ids.map(dayOfId))]);
  const starts = new Map<Day, readonly string[]>();
  for (const [day, hash] of hashes)
    starts.set(day, await question.cold.read(question, { day, hash }, async (reader) => reader.groupStarts));
  const pieces: ReceiptId[][] = [];
  let [day, from] = ['', ''];
  for (const one of ids) {
    const piece = pieces.at(-1);
    const isOfPiece =
      piece !== undefined && dayOfId(one) === day && (from === '' ? piece.length < PIECE_ROWS : one >= from);
    if (isOfPiece) {
      piece.push(one);
      continue;
    }
    day = dayOfId(one);
    // Start of the row group of this id; empty for a day in the database.
    from = starts.get(day)?.findLast((start) => start <= one) ?? '';
    pieces.push([one]);
  }
  return pieces;
}

async function listForExport(
  question: Question,
  ids: readonly ReceiptId[],
  form: ExportedForm,
): Promise<DecisionExportRecord[]> {
  const { database } = question;
  const hashes = await findColdDays(database, [...new Set(ids.map(dayOfId))]);
  const rows = await listCold(question, ids, hashes, form);
  for (const statement of byIdsStatements(
    ids.filter((one) => !hashes.has(dayOfId(one))),
    exported,
  ))
    for (const { jws, ...row } of await database.read<HotRow>(statement))
      rows.push({ ...row, receipt: bytesOf(row.receiptId, jws, form) });
  return hashes.size === 0 ? rows : rows.sort(byDescendingId);
}

type HotRow = Omit<DecisionExportRecord, 'receipt'> & { readonly jws: string };

const bytesOf = (receiptId: ReceiptId, jws: string, form: ExportedForm): Uint8Array => {
  const text = exportedText(jws, form);
  if (text === null) throw internal(`what is stored as ${receiptId} is no Receipt`);
  return Buffer.from(text);
};

// As a subquery the list is opaque to the planner, which otherwise estimates each id.
const charsSql = `
  select receipt_id as "receiptId", sum(400 + length(concat(evidence_ref, note, reporter_signature))) as chars
  from attestations where receipt_id = any ((select $1::text[])::text[]) group by receipt_id`;

/** Rows of cold days, in any order. All outcomes are in the database, also those of cold days. */
async function listCold(
  question: Question,
  ids: readonly ReceiptId[],
  hashes: ReadonlyMap<Day, Sha256>,
  form: ExportedForm,
): Promise<DecisionExportRecord[]> {
  const rows: RowWithText<(typeof SHOWN)[number]>[] = [];
  for (const [day, hash] of hashes)
    await question.cold.read(question, { day, hash }, async (reader, signal) => {
      const ofDay = ids.filter((one) => dayOfId(one) === day);
      rows.push(...(await reader.findTexts(ofDay, { columns: SHOWN, form }, signal)));
    });
  if (rows.length === 0) return [];
  const values = [rows.map(({ receipt_id: receiptId }) => receiptId)];
  const found = await question.database.read<{ receiptId: string; chars: number }>({
    text: charsSql,
    values,
  });
  const chars = new Map(found.map((one) => [one.receiptId, one.chars]));
  return rows.map((row) => ({
    ...decisionOf(row),
    outcomeChars: chars.get(row.receipt_id) ?? 0,
    receipt: row.text,
  }));
}
