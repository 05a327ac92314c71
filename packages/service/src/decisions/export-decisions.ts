/**
 * Exports decisions (interface §GET /decisions/export). The ids of the page are found first, so the number of rows and
 * the start of the next page are known before the first row is sent. The rows are then read a few at a time, whenever
 * the reader asks for more. Memory stays flat, no connection is held in between, and a reader that disconnects ends the
 * work.
 */
import type { ReceiptId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { assertLiveKey } from '../access/live-key.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal } from '../errors.ts';
import type { DecisionExportRecord, ExportedForm } from '../ports/decisions.ts';
import type { OutcomeRecord } from '../ports/outcomes.ts';
import { type DecisionQuery, findPage } from './decision-page.ts';

type Deps = Pick<ServiceDeps, 'store'>;

export interface ExportedDecision {
  readonly decision: DecisionExportRecord;
  /** The outcome records of the decision, the oldest first. */
  readonly outcomes: readonly OutcomeRecord[];
}

export interface DecisionExport {
  readonly rowCount: number;
  readonly nextCursor: string | null;
  /**
   * All rows in batches, newest first. Rejects when not all of them can be read; then the rows before are not an
   * export.
   */
  readonly batches: AsyncIterable<readonly ExportedDecision[]>;
}

export const exportDecisions = async (
  deps: Deps,
  caller: Caller,
  query: DecisionQuery,
  form: ExportedForm,
): Promise<DecisionExport> => {
  const { items, nextCursor } = await findPage(
    deps,
    caller,
    query,
    (filter, limit) => deps.store.report(({ decisions }) => decisions.listIds(filter, limit)),
    (id) => id,
  );
  return { rowCount: items.length, nextCursor, batches: readBatches(deps, caller, items, form) };
};

/** About 0.5 MB: small enough to serialize without delaying other requests. */
const BATCH_ROWS = 128;
/** A single Receipt may have more. */
const BATCH_OUTCOME_CHARS = 1_000_000;

/** Batches read at once: the rows are scattered on the disk, so reading them is mostly waiting. */
const BATCHES_AT_ONCE = 2;

/** The key is looked up again before each batch: a reader may take minutes, and a revocation takes effect at once. */
async function* readBatches(
  { store }: Deps,
  caller: Caller,
  ids: readonly ReceiptId[],
  form: ExportedForm,
): AsyncGenerator<ExportedDecision[]> {
  for await (const rows of readRows(store, ids, form))
    for (const part of splitRows(rows)) {
      await assertLiveKey(store, caller);
      yield await withOutcomes(store, part);
    }
}

async function* readRows(
  store: ServiceDeps['store'],
  ids: readonly ReceiptId[],
  form: ExportedForm,
): AsyncGenerator<readonly DecisionExportRecord[]> {
  const pieces = await store.report(({ decisions }) => decisions.cutForExport(ids));
  const reading: Promise<DecisionExportRecord[]>[] = [];
  for (let at = 0; at < pieces.length || reading.length > 0; ) {
    for (; at < pieces.length && reading.length < BATCHES_AT_ONCE; at++) {
      const batch = readBatch(store, pieces[at] ?? [], form);
      // Awaited later: a rejection before that must not count as unhandled.
      batch.catch(() => {});
      reading.push(batch);
    }
    const next = reading.shift();
    if (next !== undefined) yield await next;
  }
}

const readBatch = async (
  store: ServiceDeps['store'],
  ids: readonly ReceiptId[],
  form: ExportedForm,
): Promise<DecisionExportRecord[]> => {
  const rows = await store.report(({ decisions }) => decisions.listForExport(ids, form));
  if (rows.length !== ids.length) throw internal(`${ids.length - rows.length} decisions are gone`);
  return rows;
};

/** Splits the rows, in order, into parts whose outcomes are of limited size. */
const splitRows = (rows: readonly DecisionExportRecord[]): DecisionExportRecord[][] => {
  const parts: DecisionExportRecord[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    chars += row.outcomeChars;
    if (chars > BATCH_OUTCOME_CHARS || parts.at(-1)?.length === BATCH_ROWS) {
      parts.push([]);
      chars = row.outcomeChars;
    }
    parts.at(-1)?.push(row);
  }
  return parts;
};

const withOutcomes = async (
  store: ServiceDeps['store'],
  rows: readonly DecisionExportRecord[],
): Promise<ExportedDecision[]> => {
  const reported = rows.filter(({ outcomeChars }) => outcomeChars > 0).map(({ receiptId }) => receiptId);
  if (reported.length === 0) return rows.map((decision) => ({ decision, outcomes: [] }));
  const ledgers = new Map<ReceiptId, OutcomeRecord[]>(reported.map((id) => [id, []]));
  const found = await store.report(({ outcomes }) => outcomes.listOfReceipts(reported));
  for (const one of found) ledgers.get(one.receiptId)?.push(one);
  return rows.map((decision) => ({ decision, outcomes: ledgers.get(decision.receiptId) ?? [] }));
};
