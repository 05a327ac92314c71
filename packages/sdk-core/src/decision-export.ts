/**
 * Complete decisions with their Receipts and outcomes, for archives and spreadsheets (interface §Decisions). Only one
 * piece is in memory at a time.
 */
import { parseStrictJson } from '@svc/codec';
import type { CallOptions } from './call-options.ts';
import { decisionQuery, type NamedFilter } from './decision-pages.ts';
import { SvcError } from './errors.ts';
import { readDecisionExportRow } from './readers.generated.ts';
import { linesOf, type TextStream } from './text-stream.ts';
import type { Transport } from './transport.ts';
import type { DecisionExportRow } from './wire.generated.ts';

/** Exports the decisions that match a filter, as rows or as a CSV file. */
export interface DecisionExports<Filter, Row = DecisionExportRow> {
  /**
   * Every matching decision with its Receipt and outcomes, newest first. Read as it is consumed, never held in memory
   * as a whole. `limit` is per page, 1–5,000. `timeoutMs` applies to each wait for more data.
   * @throws SvcError Where the export breaks off. All rows before that are complete.
   */
  export(filter?: Filter & { limit?: number }, options?: CallOptions): AsyncGenerator<Row, void, undefined>;
  /**
   * The same as text of one CSV file with one header line, piece by piece. The file is safe to open in a spreadsheet: a
   * `'` at the beginning of a cell, or after `;`, `|` or tab within it, is not part of the value.
   * @throws SvcError Where the export breaks off. The text before that may end within a row.
   */
  exportCsv(
    filter?: Filter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<string, void, undefined>;
}

/** `pathOf` returns the path of the export. */
export const decisionExports = <Filter extends NamedFilter>(
  transport: Transport,
  pathOf: (call: CallOptions) => string | Promise<string>,
): DecisionExports<Filter> => {
  const pages = async function* (filter: object, format: 'ndjson' | 'csv', call: CallOptions) {
    const path = await pathOf(call);
    yield* exportPages((query) => openPage(transport, path, { ...filter, format, ...query }, call));
  };
  return {
    async *export(filter, call = {}) {
      for await (const { rowCount, chunks } of pages(filter ?? {}, 'ndjson', call)) {
        let rows = 0;
        for await (const line of linesOf(chunks, MAX_LINE_CHARS)) {
          yield readRow(line);
          rows += 1;
        }
        checkRowCount(rows, rowCount);
      }
    },
    async *exportCsv(filter, call = {}) {
      let isFirst = true;
      for await (const { rowCount, chunks } of pages(filter ?? {}, 'csv', call)) {
        const whole = wholeCsv(chunks, rowCount);
        yield* isFirst ? whole : withoutHeader(whole);
        isFirst = false;
      }
    },
  };
};

/** Room for a decision with 100 outcomes that contain long texts. */
const MAX_LINE_CHARS = 8_388_608;

const badExport = (what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: ${what}`);

const checkRowCount = (rows: number, rowCount: number): void => {
  if (rows !== rowCount) throw badExport(`${rows} rows came, ${rowCount} were announced`);
};

const openPage = (
  transport: Transport,
  path: string,
  filter: object,
  call: CallOptions,
): Promise<TextStream> =>
  transport.open({ method: 'GET', path, query: decisionQuery(filter), hasEffect: false, ...call });

interface ExportPage {
  readonly rowCount: number;
  readonly chunks: AsyncGenerator<string, void, undefined>;
}

/** Requests each page once the page before has been consumed. */
async function* exportPages(
  open: (from: { cursor?: string }) => Promise<TextStream>,
): AsyncGenerator<ExportPage, void, undefined> {
  const seen = new Set<string>();
  for (let cursor = ''; ; ) {
    const stream = await open(cursor === '' ? {} : { cursor });
    const rowCount = Number(stream.header('x-svc-rows') ?? Number.NaN);
    const next = stream.header('x-svc-next-cursor');
    try {
      if (!Number.isSafeInteger(rowCount) || next === null) throw badExport('no count of rows, or no cursor');
      yield { rowCount, chunks: stream.chunks };
    } finally {
      stream.end();
    }
    if (next === '') return;
    if (seen.has(next)) throw badExport('the export leads back into itself');
    seen.add(next);
    cursor = next;
  }
}

function readRow(line: string): DecisionExportRow {
  const json = parseStrictJson(line);
  if (!json.ok) throw badExport(`a row is not strict JSON: ${json.problem}`);
  const row = readDecisionExportRow(json.value, 'the row');
  if (row.receipt.receipt_id !== row.receipt_id) throw badExport('a row has the Receipt of another decision');
  return row;
}

/** Passes the text on. At its end, throws unless it was a header line and `rowCount` rows. */
async function* wholeCsv(
  chunks: AsyncIterable<string>,
  rowCount: number,
): AsyncGenerator<string, void, undefined> {
  let [isQuoted, isEnded, lines] = [false, false, 0];
  for await (const chunk of chunks) {
    // CSV writes a quote within a cell as two quotes, so the pair toggles the state twice and leaves it unchanged.
    for (const [character] of chunk.matchAll(/["\n]/g))
      if (character === '"') isQuoted = !isQuoted;
      else if (!isQuoted) lines += 1;
    isEnded = !isQuoted && chunk.endsWith('\n');
    yield chunk;
  }
  if (!isEnded) throw badExport('the last row does not end');
  checkRowCount(lines - 1, rowCount);
}

/** Column names contain no line break, so the header ends at the first one. */
async function* withoutHeader(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let isPast = false;
  for await (const chunk of chunks) {
    if (isPast) {
      yield chunk;
      continue;
    }
    const end = chunk.indexOf('\n');
    isPast = end >= 0;
    if (isPast && end + 1 < chunk.length) yield chunk.slice(end + 1);
  }
}
