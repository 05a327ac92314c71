/** Decisions: a single one, a page of summaries, and exports with the Receipts (interface §Decisions). */
import {
  type Caller,
  type DecisionExport,
  exportDecisions,
  exportOwnDecisions,
  getDecision,
  getDecisionStats,
  getOwnActivity,
  getOwnDecision,
  listDecisions,
  listOwnDecisions,
  type RecordedDecision,
  type ServiceDeps,
  tenantOf,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { presentActivity } from './decisions/activity.ts';
import { exportCsv, exportNdjson } from './decisions/export-text.ts';
import { oneAhead } from './decisions/one-ahead.ts';
import { presentDecisionSummary } from './decisions/summary.ts';
import { presentOutcome } from './outcomes.ts';
import type { StreamTurns, Turns } from './stream-turns.ts';
import { presentDecisionStats } from './usage.ts';

const FORMATS = {
  ndjson: {
    contentType: 'application/x-ndjson',
    form: 'text',
    bytes: exportNdjson,
    fileName: 'decisions.ndjson',
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    form: 'jws',
    bytes: exportCsv,
    fileName: 'decisions.csv',
  },
} as const;

/** State that is kept between calls. */
interface Kept {
  readonly exportTurns: StreamTurns;
  readonly activityTurns: Turns;
}

export const decisionEndpoints = (
  deps: ServiceDeps,
  { exportTurns, activityTurns }: Kept,
): HandlersOf<'decisions'> => ({
  listDecisions: async ({ caller, query }) => {
    const { items, nextCursor } = await listDecisions(deps, caller, query);
    const body = { decisions: items.map(presentDecisionSummary), next_cursor: nextCursor };
    return { status: 200, body };
  },

  exportDecisions: async ({ caller, query: { format, ...query } }) =>
    answerExport(
      exportTurns,
      caller,
      format,
      await exportDecisions(deps, caller, query, FORMATS[format].form),
    ),

  /** The answer contains the Receipt byte for byte as it was answered when the decision was made. */
  getDecision: async ({ caller, params, query }) =>
    answerDecision(await getDecision(deps, caller, params.receipt_id, query.rp)),

  listPrincipalDecisions: async ({ caller, params, query }) => {
    const { items, nextCursor } = await listOwnDecisions(deps, caller, { ...query, ownerDid: params.did });
    const body = { decisions: items.map(presentDecisionSummary), next_cursor: nextCursor };
    return { status: 200, body };
  },

  exportPrincipalDecisions: async ({ caller, params, query: { format, ...query } }) =>
    answerExport(
      exportTurns,
      caller,
      format,
      await exportOwnDecisions(deps, caller, { ...query, ownerDid: params.did }, FORMATS[format].form),
    ),

  getPrincipalDecisionStats: async ({ caller, params, query }) => {
    const stats = await getDecisionStats(deps, caller, { ...query, ownerDid: params.did });
    return { status: 200, body: presentDecisionStats(stats) };
  },

  getPrincipalActivity: async ({ caller, params, query }) => {
    const activity = await activityTurns.run(tenantOf(caller), () =>
      getOwnActivity(deps, caller, { ...query, ownerDid: params.did }),
    );
    return { status: 200, body: presentActivity(activity) };
  },

  getPrincipalDecision: async ({ caller, params }) =>
    answerDecision(await getOwnDecision(deps, caller, params.did, params.receipt_id)),
});

const answerExport = (
  turns: StreamTurns,
  caller: Caller,
  format: keyof typeof FORMATS,
  { rowCount, nextCursor, batches }: DecisionExport,
) => {
  const { contentType, bytes, fileName } = FORMATS[format];
  return {
    status: 200,
    ...turns.reply(tenantOf(caller), oneAhead(bytes(batches))),
    contentType,
    headers: {
      'X-Svc-Rows': String(rowCount),
      'X-Svc-Next-Cursor': nextCursor ?? '',
      'Content-Disposition': `attachment; filename="${fileName}"`,
    },
  } as const;
};

const answerDecision = ({ receiptText, outcomes }: RecordedDecision) => {
  const outcomesText = JSON.stringify(outcomes.map(presentOutcome));
  return { status: 200, rawBody: `{"receipt":${receiptText},"outcomes":${outcomesText}}` } as const;
};
