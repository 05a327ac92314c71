/** Decisions: one, a page of them, and whole pages with their Receipts (interface §Decisions). */
import { exportDecisions, getDecision, listDecisions, type ServiceDeps } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { exportCsv, exportNdjson } from './decisions/export-text.ts';
import type { ExportTurns } from './decisions/export-turns.ts';
import { presentDecisionSummary } from './decisions/summary.ts';
import { presentAttestation } from './outcomes.ts';

const FORMATS = {
  ndjson: { contentType: 'application/x-ndjson', text: exportNdjson, fileName: 'decisions.ndjson' },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    text: exportCsv,
    fileName: 'decisions.csv',
  },
} as const;

export const decisionEndpoints = (deps: ServiceDeps, turns: ExportTurns): HandlersOf<'decisions'> => ({
  listDecisions: async ({ caller, query }) => {
    const { items, nextCursor } = await listDecisions(deps, caller, query);
    const body = { decisions: items.map(presentDecisionSummary), next_cursor: nextCursor };
    return { status: 200, body };
  },

  exportDecisions: async ({ caller, query: { format, ...query } }) => {
    const { rowCount, nextCursor, batches } = await exportDecisions(deps, caller, query);
    const { contentType, text, fileName } = FORMATS[format];
    return {
      status: 200,
      stream: turns.take(caller, text(batches)),
      contentType,
      headers: {
        'X-Svc-Rows': String(rowCount),
        'X-Svc-Next-Cursor': nextCursor ?? '',
        'Content-Disposition': `attachment; filename="${fileName}"`,
      },
    };
  },

  /** The Receipt stands in the answer byte for byte as it was answered when the decision was made. */
  getDecision: async ({ caller, params, query }) => {
    const { receiptText, outcomes } = await getDecision(deps, caller, params.receipt_id, query.rp);
    const outcomesText = JSON.stringify(outcomes.map(presentAttestation));
    return { status: 200, rawBody: `{"receipt":${receiptText},"outcomes":${outcomesText}}` };
  },
});
