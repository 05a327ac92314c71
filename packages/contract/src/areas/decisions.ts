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
import { didParams, statsRange } from '../parameters.ts';
import { decision, decisionExportRow, decisionList } from '../resources/decision.ts';
import { principalActivity } from '../resources/principal-activity.ts';
import { reasonCode } from '../resources/receipt.ts';
import { decisionStats } from '../resources/usage.ts';
import { defineRoute, json, stream } from '../route.ts';

/** Each filter narrows what the key may read; a decision must match all given filters. */
const filters = {
  since: instant.optional().meta({ description: 'Decisions evaluated at this instant or later.' }),
  until: instant.optional().meta({ description: 'Decisions evaluated before this instant.' }),
  decision: z.enum(['ALLOW', 'DENY']).optional(),
  reason: reasonCode.optional(),
  principal: didWeb.optional().meta({ description: 'Only decisions on Grants that this Principal issued.' }),
  grant_id: grantId.optional(),
  rp: didWeb
    .optional()
    .meta({ description: 'Org keys: one member relying party (default: all). Admin: any.' }),
  key_id: apiKeyId.optional().meta({ description: 'Only decisions that were requested with this RP key.' }),
  cursor: cursor.optional(),
};

const {
  principal: _,
  key_id: __,
  ...ownFilters
} = {
  ...filters,
  rp: didWeb.optional().meta({ description: 'Only decisions that this relying party requested.' }),
};

const NOT_ITS_PRINCIPAL = 'This key may not read the decisions of this Principal.';
const NOT_PROVEN = 'The Principal is hosted, and its domain is not proven now.';
const OWN = [
  'Covers decisions about the Principal’s own Grants, whichever relying party asked: decisions whose check P3 is',
  'true. It excludes Grants that only name the Principal, and decisions from before the DID was registered by, or',
  'transferred to, its present holder. Only for the Principal and its org. Which API key of a relying party asked,',
  'and the text of its reports, are shown only to the relying party.',
].join('\n');

const NOT_ITS_RP = 'This key may not read this relying party.';

const exportedRows = {
  200: stream(['application/x-ndjson', 'text/csv; charset=utf-8; header=present'], 'One page of rows.', {
    lineSchemas: { 'application/x-ndjson': decisionExportRow },
    headers: {
      'X-Svc-Rows': 'How many rows the body has.',
      'X-Svc-Next-Cursor': 'The `cursor` of the next page; empty on the last.',
      'Content-Disposition': 'A file name for saving the answer.',
    },
  }),
};

export const decisionRoutes = {
  listDecisions: defineRoute({
    method: 'get',
    path: '/decisions',
    tag: 'Decisions',
    summary: 'List decisions',
    description: [
      'Newest first, in descending order of receipt ids. An RP key sees its own decisions, an org key those of its',
      'relying parties, and the operator all. Decisions that are made while you page do not change the following pages.',
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
      'Streams the same decisions in the same order, with their Receipts and outcomes, up to 5,000 a page. For the next',
      'page, send `X-Svc-Next-Cursor` as `cursor`, until it is empty. `X-Svc-Rows` says before the body how many rows',
      'it has; do not use a body that ends early.',
      '',
      "CSV has a header line and is safe to open in a spreadsheet. A `'` is inserted before everything that could be",
      'read as a formula: at the beginning of a cell and, for programs with other separators, after `;`, `|` and tab. A',
      "`'` that is already in such a place gets another one. To restore the stored text, remove one `'` in each of",
      'these places. In CSV, `outcomes` is a JSON array, and `receipt` is the compact JWS, whose payload is the',
      'Receipt.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      ...filters,
      format: z.enum(['ndjson', 'csv']).default('ndjson'),
      limit: queryInteger(1, 5_000, 5_000),
    }),
    responses: exportedRows,
    errors: { NOT_FOUND: NOT_ITS_RP },
  }),

  getDecision: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}',
    tag: 'Decisions',
    summary: 'Get one decision',
    description: [
      'The Receipt as it was signed, and what was reported about it later. Use it to get a Receipt whose answer was',
      'lost, or to show an auditor what was decided.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ receipt_id: receiptId }),
    query: z.strictObject({
      rp: didWeb.optional().meta({ description: 'Org keys: one member relying party. Admin: any.' }),
    }),
    responses: { 200: json(decision, 'The Receipt and its outcomes.') },
    errors: { NOT_FOUND: 'Not one of this relying party’s decisions.' },
  }),

  listPrincipalDecisions: defineRoute({
    method: 'get',
    path: '/principals/{did}/decisions',
    tag: 'Decisions',
    summary: 'List the decisions on a Principal’s Grants',
    description: `${OWN}\n\nOtherwise like \`GET /decisions\`.`,
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: didParams,
    query: z.strictObject({ ...ownFilters, limit: pageLimit }),
    responses: { 200: json(decisionList, 'One page of decisions.') },
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, FORBIDDEN: NOT_PROVEN },
  }),

  exportPrincipalDecisions: defineRoute({
    method: 'get',
    path: '/principals/{did}/decisions/export',
    tag: 'Decisions',
    summary: 'Export the decisions on a Principal’s Grants',
    description: `${OWN}\n\nOtherwise like \`GET /decisions/export\`.`,
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: didParams,
    query: z.strictObject({
      ...ownFilters,
      format: z.enum(['ndjson', 'csv']).default('ndjson'),
      limit: queryInteger(1, 5_000, 5_000),
    }),
    responses: exportedRows,
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, FORBIDDEN: NOT_PROVEN },
  }),

  getPrincipalDecisionStats: defineRoute({
    method: 'get',
    path: '/principals/{did}/decisions/stats',
    tag: 'Decisions',
    summary: 'Count the decisions on a Principal’s Grants',
    description: [
      OWN,
      '',
      'Otherwise like `GET /decisions/stats`, with one difference: decisions that were made while its domain was not',
      'proven are counted under its name.',
    ].join('\n'),
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: didParams,
    query: z.strictObject({ ...statsRange, rp: ownFilters.rp }),
    responses: { 200: json(decisionStats, 'The statistics.') },
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, FORBIDDEN: NOT_PROVEN },
  }),

  getPrincipalActivity: defineRoute({
    method: 'get',
    path: '/principals/{did}/decisions/activity',
    tag: 'Decisions',
    summary: 'Who acted on a Principal’s Grants',
    description: [
      'The decisions of a period by Agent, by Grant or by relying party: how many were allowed and denied, the reasons,',
      'the amounts, and the time of the latest.',
      OWN,
      '',
      'The newest 5,000 decisions of the period are counted; `complete` says whether these are all. Amounts are those of ALLOW',
      'Receipts, as they were allowed: amounts that were cancelled later are included. The 200 groups with the most decisions',
      'are listed.',
    ].join('\n'),
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: didParams,
    query: z.strictObject({
      ...statsRange,
      by: z
        .enum(['agent', 'grant', 'rp'], { error: 'must be agent, grant or rp' })
        .meta({ description: 'What to group by.' }),
      rp: ownFilters.rp,
    }),
    responses: { 200: json(principalActivity, 'The groups, the largest first.') },
    errors: { NOT_FOUND: NOT_ITS_PRINCIPAL, FORBIDDEN: NOT_PROVEN },
  }),

  getPrincipalDecision: defineRoute({
    method: 'get',
    path: '/principals/{did}/decisions/{receipt_id}',
    tag: 'Decisions',
    summary: 'Get one decision on a Principal’s Grant',
    description: `The Receipt as it was signed, and what was reported about it later. ${OWN}`,
    auth: ['principal', 'org'],
    limiter: 'authenticated',
    params: z.strictObject({ ...didParams.shape, receipt_id: receiptId }),
    responses: { 200: json(decision, 'The Receipt and its outcomes.') },
    errors: { NOT_FOUND: 'Not a decision about a Grant of this Principal.', FORBIDDEN: NOT_PROVEN },
  }),
} as const;
