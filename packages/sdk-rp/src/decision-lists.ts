/** A relying party's decisions: as a list, and whole for archives and spreadsheets (interface §Decisions). */
import { parseStrictJson } from '@svc/codec';
import type { ReasonCode } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import {
  type Attestation,
  type CallOptions,
  type DecisionPages,
  type DecisionSummary,
  decisionPages,
  decisionQuery,
  linesOf,
  readDecisionExportRow,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** All that are given must hold. */
export interface DecisionFilter {
  /** Evaluated at this instant or later. */
  since?: Date | string;
  /** Evaluated before this instant. */
  until?: Date | string;
  decision?: 'ALLOW' | 'DENY';
  reason?: ReasonCode;
  /** Who issued the Grant. */
  principal?: string;
  grantId?: string;
  /** Which API key of this relying party asked. */
  keyId?: string;
}

/** A decision as it is exported. */
export interface DecisionExportRow extends DecisionSummary {
  /** As it is stored; whether it is genuine, `verifyReceipt` of `@svc/receipts` tells. */
  receipt: Receipt;
  /** The outcome ledger, the oldest first. */
  outcomes: Attestation[];
}

/** The decisions of this relying party, as a list and as files. */
export interface DecisionLists extends DecisionPages<DecisionFilter> {
  /**
   * Every decision of the filter with its Receipt and outcomes, newest first, read as it is consumed and never held in
   * memory. `limit` is per page, 1–5,000. `timeoutMs` is for each wait for more.
   * @throws SvcError Where it breaks off. What came before is complete up to there and no further.
   */
  export(
    filter?: DecisionFilter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<DecisionExportRow, void, undefined>;
  /**
   * The same as the text of one CSV file with one header line, piece by piece. It is safe to open in a spreadsheet: a `'`
   * at the beginning of a cell, or in it after `;`, `|` or tab, is not part of the value.
   */
  exportCsv(
    filter?: DecisionFilter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<string, void, undefined>;
}

export function createDecisionLists(transport: Transport): DecisionLists {
  return {
    ...decisionPages<DecisionFilter>(async (filter, from, call) => {
      const query = decisionQuery({ ...filter, ...from });
      const sent = { method: 'GET', path: '/decisions', query, hasEffect: false } as const;
      return (await transport.send({ ...sent, ...call })).body;
    }),
    async *export(filter = {}, call = {}) {
      for await (const { rowCount, chunks } of exportPages(transport, filter, 'ndjson', call)) {
        let rows = 0;
        for await (const line of linesOf(chunks, MAX_LINE_CHARS)) {
          yield readRow(line);
          rows += 1;
        }
        if (rows !== rowCount) throw badExport(`${rows} rows came, ${rowCount} were announced`);
      }
    },
    async *exportCsv(filter = {}, call = {}) {
      let isFirst = true;
      for await (const { chunks } of exportPages(transport, filter, 'csv', call)) {
        yield* isFirst ? chunks : withoutHeader(chunks);
        isFirst = false;
      }
    },
  };
}

/** A decision with 100 outcomes of long texts. */
const MAX_LINE_CHARS = 8_388_608;

const badExport = (what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: ${what}`);

interface ExportPage {
  readonly rowCount: number;
  readonly chunks: AsyncGenerator<string, void, undefined>;
}

/** Each page is asked for when the one before has been consumed. */
async function* exportPages(
  transport: Transport,
  filter: DecisionFilter & { limit?: number },
  format: 'ndjson' | 'csv',
  call: CallOptions,
): AsyncGenerator<ExportPage, void, undefined> {
  const seen = new Set<string>();
  for (let cursor = ''; ; ) {
    const query = decisionQuery({ ...filter, format, ...(cursor === '' ? {} : { cursor }) });
    const path = '/decisions/export';
    const stream = await transport.open({ method: 'GET', path, query, hasEffect: false, ...call });
    const rowCount = Number(stream.header('x-svc-rows') ?? Number.NaN);
    const next = stream.header('x-svc-next-cursor');
    if (!Number.isSafeInteger(rowCount) || next === null) throw badExport('no count of rows, or no cursor');
    try {
      yield { rowCount, chunks: stream.chunks };
    } finally {
      await stream.chunks.return();
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
  const { receipt, ...row } = readDecisionExportRow(json.value, 'the row');
  if (receipt.receipt_id !== row.receipt_id) throw badExport('a row has the Receipt of another decision');
  return { ...row, receipt: receipt as unknown as Receipt };
}

/** Names of columns hold no line break, so the header ends with the first one. */
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
