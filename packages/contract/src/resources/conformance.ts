/** Conformance runs and their reports (interface §Conformance run, docs/conformance.md). */
import { z } from 'zod';
import { conformanceRunId, integer, sha256, timestamp, url } from '../formats.ts';

const RUN_ID = 'cfr_01M7VZGC008Q2R7V9X1C4E6H8Q';
const VECTORS = {
  sha256: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  conformance_version: '1.1.0',
};

export const conformanceRunRequest = z
  .strictObject({
    endpoint: url(2048).meta({
      description:
        'An endpoint that speaks `svc-conformance-http v1`: https, port 443, a public host that is not the service’s.',
    }),
  })
  .meta({ id: 'ConformanceRunRequest', example: { endpoint: 'https://engine.example/conformance' } });

const vectors = z.strictObject({
  sha256: sha256.meta({ description: 'The hash of the vector set that was run.' }),
  conformance_version: z.string(),
});

const count = integer(0, 1_000_000);
const totals = z
  .strictObject({ cases: count, passed: count, failed: count, unsupported: count, undecided: count })
  .meta({ id: 'ConformanceTotals' });

const difference = z.strictObject({
  pointer: z.string().meta({ description: 'JSON pointer into the result.' }),
  expected: z.string().nullable().meta({ description: 'JSON text; null: no value is expected.' }),
  got: z
    .string()
    .nullable()
    .meta({ description: 'JSON text, shortened if it is long; null: there is no value.' }),
});

const caseReport = z
  .strictObject({
    id: z.string(),
    outcome: z.enum(['passed', 'failed', 'unsupported', 'undecided']),
    description: z.string().optional(),
    problem: z.string().optional(),
    difference: difference.optional(),
  })
  .meta({ id: 'ConformanceCase' });

const report = z
  .strictObject({
    contract: z.literal('svc-conformance-http v1'),
    status: z.enum(['passed', 'failed', 'error']),
    error: z.string().nullable(),
    vectors,
    endpoint: z
      .strictObject({
        implementation: z.strictObject({ name: z.string(), version: z.string() }),
        ops: z.array(z.string()),
        profiles: z.array(z.string()),
        receipts: z.boolean(),
      })
      .nullable()
      .meta({ description: 'What the endpoint says about itself.' }),
    requests: integer(0, 50),
    duration_ms: count,
    totals,
    sets: z.array(
      z.strictObject({
        op: z.enum(['evaluate', 'normalizeHtu', 'canonicalize', 'sha256', 'isJti']),
        totals,
        cases: z.array(caseReport),
      }),
    ),
  })
  .meta({ id: 'ConformanceReport' });

const running = {
  run_id: RUN_ID,
  status: 'running',
  endpoint: 'https://engine.example/conformance',
  created_at: '2026-11-20T08:00:00.000Z',
  finished_at: null,
  requests: 0,
  vectors: VECTORS,
  error: null,
  report: null,
  signed: false,
} as const;

export const conformanceRun = z
  .strictObject({
    run_id: conformanceRunId,
    status: z.enum(['running', 'passed', 'failed', 'error']).meta({
      description:
        '`passed`: the endpoint passed every case that it supports. `failed`: the report shows the cases that failed. `error`: the endpoint was refused, or the run was interrupted.',
    }),
    endpoint: url(2048),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    requests: integer(0, 50).meta({ description: 'The number of requests sent so far.' }),
    vectors,
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the state is `error`, or why the run ended early.' }),
    report: report.nullable(),
    signed: z.literal(false).meta({ description: 'Reports are not signed.' }),
  })
  .meta({ id: 'ConformanceRun', example: running });
