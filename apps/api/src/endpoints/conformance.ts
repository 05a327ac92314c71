/** Conformance runs: the vectors against an endpoint of the caller. The runner does the work. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type ConformanceRunRecord,
  getConformanceRun,
  type ServiceDeps,
  startConformanceRun,
  type VectorSetName,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const conformanceEndpoints = (
  deps: ServiceDeps,
  vectors: VectorSetName,
): HandlersOf<'conformance'> => ({
  startConformanceRun: async ({ caller, body }) => {
    const run = await startConformanceRun(deps, caller, body.endpoint, vectors);
    return { status: 202, body: presentConformanceRun(run) };
  },

  getConformanceRun: async ({ caller, params }) => {
    const run = await getConformanceRun(deps, caller, params.run_id);
    return { status: 200, body: presentConformanceRun(run) };
  },
});

type ConformanceRun = Body<Routes['getConformanceRun'], 200>;

const presentConformanceRun = (run: ConformanceRunRecord): ConformanceRun => ({
  run_id: run.runId,
  status: run.status,
  endpoint: run.endpoint,
  created_at: formatTimestamp(run.createdAtMs),
  finished_at: formatTimestampOrNull(run.finishedAtMs),
  requests: run.requests,
  vectors: { sha256: run.vectors.sha256, conformance_version: run.vectors.conformanceVersion },
  error: run.error,
  // The runner stored it in this form.
  report: run.reportText === null ? null : (JSON.parse(run.reportText) as ConformanceRun['report']),
  signed: false,
});
