/**
 * Exported decisions as text (interface §GET /decisions/export). NDJSON: a DecisionExportRow on each line. CSV: RFC 4180
 * with a header line, the members of the summary, then the Receipt as its JWS and the outcomes as a JSON array.
 */
import { receiptTextOfStored } from '@svc/receipts';
import { type ExportedDecision, internal } from '@svc/service';
import { stringify } from 'csv-stringify/sync';
import { presentAttestation } from '../outcomes.ts';
import { inertCell } from './inert-cell.ts';
import { type DecisionSummary, presentDecisionSummary } from './summary.ts';

/** One chunk for each batch. */
export async function* exportNdjson(batches: Batches): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield bytesOf(batch.map(ndjsonLine));
}

/** As one text of half a megabyte they would be copied once more, and that text once more where it is sent. */
const bytesOf = (lines: readonly string[]): Uint8Array => {
  const bytes = Buffer.allocUnsafe(lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0));
  let at = 0;
  for (const line of lines) at += bytes.write(line, at);
  return bytes;
};

export async function* exportCsv(batches: Batches): AsyncGenerator<string> {
  yield csvText([CSV_COLUMNS]);
  for await (const batch of batches) yield csvText(batch.map(csvCells));
}

type Batches = AsyncIterable<readonly ExportedDecision[]>;

/** The Receipt stands in it byte for byte as it was answered. */
const ndjsonLine = (row: ExportedDecision): string => {
  const summary = JSON.stringify(presentDecisionSummary(row));
  const receipt = receiptTextOfStored(row.jws);
  if (receipt === null) throw internal(`stored receipt ${row.receiptId}`);
  return `${summary.slice(0, -1)},"receipt":${receipt},"outcomes":${outcomesText(row)}}\n`;
};

const outcomesText = ({ outcomes }: ExportedDecision): string =>
  JSON.stringify(outcomes.map(presentAttestation));

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

const csvCells = (row: ExportedDecision): string[] => {
  const summary = presentDecisionSummary(row);
  const cells = SUMMARY_COLUMNS.map((column) => summary[column]);
  return [...cells, outcomesText(row), row.jws].map(inertCell);
};

/** Every text is in quotes: readers differ in what else they take for the end of a cell. */
const csvText = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { quoted_string: true, record_delimiter: 'windows' });
