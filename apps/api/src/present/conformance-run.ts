/** A conformance run on the wire (interface §Conformance run). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { ConformanceRunRecord } from '@svc/service';

type ConformanceRun = Body<Routes['getConformanceRun'], 200>;

export const presentConformanceRun = (run: ConformanceRunRecord): ConformanceRun => ({
  run_id: run.runId,
  status: run.status,
  endpoint: run.endpoint,
  created_at: formatTimestamp(run.createdAtMs),
  finished_at: run.finishedAtMs === null ? null : formatTimestamp(run.finishedAtMs),
  requests: run.requests,
  vectors: { sha256: run.vectors.sha256, conformance_version: run.vectors.conformanceVersion },
  error: run.error,
  // Stored in this form by the runner.
  report: run.reportText === null ? null : (JSON.parse(run.reportText) as ConformanceRun['report']),
  signed: false,
});
