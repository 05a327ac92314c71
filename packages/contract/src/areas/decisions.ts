/** Decisions (interface §Endpoints, Decisions). */
import { z } from 'zod';
import {
  apiKeyId,
  cursor,
  didWeb,
  grantId,
  instant,
  pageLimit,
  queryInteger,
  receiptId,
} from '../formats.ts';
import { decision, decisionExportRow, decisionList } from '../resources/decision.ts';
import { reasonCode } from '../resources/receipt.ts';
import { defineRoute, json, stream } from '../route.ts';

/** Each narrows what the key may read; all that are given must hold. */
const filters = {
  since: instant.optional().meta({ description: 'Decisions evaluated at this instant or later.' }),
  until: instant.optional().meta({ description: 'Decisions evaluated before this instant.' }),
  decision: z.enum(['ALLOW', 'DENY']).optional(),
  reason: reasonCode.optional(),
  principal: didWeb.optional().meta({ description: 'Only of Grants that this Principal issued.' }),
  grant_id: grantId.optional(),
  rp: didWeb
    .optional()
    .meta({ description: 'Org keys: one member relying party, all unless given. Admin: any.' }),
  key_id: apiKeyId.optional().meta({ description: 'Only what was verified with this RP key.' }),
  cursor: cursor.optional(),
};

const NOT_ITS_RP = 'The relying party asked for is not one this key may read.';

export const decisionRoutes = {
  listDecisions: defineRoute({
    method: 'get',
    path: '/decisions',
    tag: 'Decisions',
    summary: 'List decisions',
    description: [
      'Newest first, in descending order of receipt ids. An RP key sees its own decisions, an org key those of its',
      'relying parties, the operator all. Decisions made while you page change nothing about the pages that follow.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({ ...filters, limit: pageLimit }),
    responses: { 200: json(decisionList, 'One page of decisions.') },
    errors: { NOT_FOUND: NOT_ITS_RP },
  }),

  exportDecisions: defineRoute({
    method: 'get',
    path: '/decisions/export',
    tag: 'Decisions',
    summary: 'Export decisions',
    description: [
      'The same decisions in the same order with their Receipts and outcomes, streamed, up to 5,000 a page. Go on with',
      '`X-Svc-Next-Cursor` as `cursor` until it is empty. `X-Svc-Rows` tells before the body how many rows it has; a body',
      'that breaks off is not to be used.',
      '',
      "CSV has a header line. It is safe to open in a spreadsheet: what could be taken for a formula has a `'` in front, at",
      "the beginning of a cell and, for programs with other separators, after `;`, `|` and tab. A `'` that stands there anyway",
      "gets one as well, so whoever takes one `'` off in each of these places has what was stored.",
      '`outcomes` is a JSON array there, and `receipt` the compact JWS, whose payload is the Receipt.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      ...filters,
      format: z.enum(['ndjson', 'csv']).default('ndjson'),
      limit: queryInteger(1, 5_000, 5_000),
    }),
    responses: {
      200: stream(['application/x-ndjson', 'text/csv; charset=utf-8; header=present'], 'One page of rows.', {
        lineSchemas: { 'application/x-ndjson': decisionExportRow },
        headers: {
          'X-Svc-Rows': 'How many rows the body has.',
          'X-Svc-Next-Cursor': 'The `cursor` of the next page; empty on the last.',
          'Content-Disposition': 'A file name for those who save it.',
        },
      }),
    },
    errors: { NOT_FOUND: NOT_ITS_RP },
  }),

  getDecision: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}',
    tag: 'Decisions',
    summary: 'Get one decision',
    description: [
      'The Receipt as it was signed, and what was later reported about it. Use it to fetch a Receipt whose answer was',
      'lost, or to show an auditor what was decided.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ receipt_id: receiptId }),
    query: z.strictObject({
      rp: didWeb.optional().meta({ description: 'Org keys: one member relying party. Admin: any.' }),
    }),
    responses: { 200: json(decision, 'The Receipt and its outcomes.') },
    errors: { NOT_FOUND: "Not one of this relying party's decisions." },
  }),
} as const;
