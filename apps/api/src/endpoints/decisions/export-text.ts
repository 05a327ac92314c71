/**
 * Exported decisions as text (interface §GET /decisions/export). NDJSON: a DecisionExportRow on each line. CSV: RFC
 * 4180 with a header line, the members of the summary, then the Receipt as its JWS and the outcomes as a JSON array.
 */
import type { ExportedDecision } from '@svc/service';
import { presentOutcome } from '../outcomes.ts';
import { inertCell } from './inert-cell.ts';
import { type DecisionSummary, presentDecisionSummary } from './summary.ts';

type Batches = AsyncIterable<readonly ExportedDecision[]>;

/** Expects Receipts in the form `text`; yields one chunk for each batch. */
export async function* exportNdjson(batches: Batches): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield bytesOf(batch.map(ndjsonLine));
}

/** Expects Receipts in the form `jws`. */
export async function* exportCsv(batches: Batches): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${CSV_COLUMNS.map(csvCell).join(',')}\r\n`);
  for await (const batch of batches) yield bytesOf(batch.map(csvLine));
}

/** A line in three parts: the text before the Receipt, its bytes, and the text behind it. */
type Line = readonly [before: string, receipt: Uint8Array, behind: string];

/** Bytes instead of a string: a string of half a megabyte would be copied here and again when it is sent. */
const bytesOf = (lines: readonly Line[]): Uint8Array => {
  const lengthOf = ([before, receipt, behind]: Line) =>
    Buffer.byteLength(before) + receipt.length + Buffer.byteLength(behind);
  const bytes = Buffer.allocUnsafe(lines.reduce((sum, line) => sum + lengthOf(line), 0));
  let at = 0;
  for (const [before, receipt, behind] of lines) {
    at += bytes.write(before, at);
    bytes.set(receipt, at);
    at += receipt.length;
    at += bytes.write(behind, at);
  }
  return bytes;
};

const ndjsonLine = (row: ExportedDecision): Line => {
  const summary = JSON.stringify(presentDecisionSummary(row.decision));
  return [`${summary.slice(0, -1)},"receipt":`, row.decision.receipt, `,"outcomes":${outcomesText(row)}}\n`];
};

const outcomesText = ({ outcomes }: ExportedDecision): string => JSON.stringify(outcomes.map(presentOutcome));

const SUMMARY_COLUMNS = [
  'receipt_id',
  'decision',
  'reason',
  'evaluated_at',
  'principal',
  'grant_id',
  'agent',
  'rp',
  'key_id',
  'action_type',
  'amount',
  'currency',
  'resource',
  'method',
] as const satisfies readonly (keyof DecisionSummary)[];

const CSV_COLUMNS = [...SUMMARY_COLUMNS, 'outcomes', 'receipt'];

/** The Receipt needs no quotes: a JWS begins with `ey` and contains neither quotes nor cell separators. */
const csvLine = (row: ExportedDecision): Line => {
  const summary = presentDecisionSummary(row.decision);
  const cells = [...SUMMARY_COLUMNS.map((column) => summary[column]), outcomesText(row)];
  return [`${cells.map(csvCell).join(',')},"`, row.decision.receipt, '"\r\n'];
};

/** Every cell is quoted: readers differ in which other characters they take for the end of a cell. */
const csvCell = (value: string | number | null): string => `"${inertCell(value).replaceAll('"', '""')}"`;
