/** Conformance runs over the wire contract svc-conformance-http v1 (docs/conformance.md). Pure except for the transport. */
export {
  answerRequest,
  type ConformanceEngine,
  type EndpointAnswer,
  type EndpointLimits,
} from './endpoint.ts';
export { createEngine, type EngineOptions } from './engine.ts';
export { type Difference, findFirstDifference } from './first-difference.ts';
export { type Batch, expectedResult, type Plan, planBatches } from './plan.ts';
export type { CaseReport, ConformanceReport, Outcome, Totals } from './report.ts';
export {
  type ConformanceRun,
  type Progress,
  RUN_LIMITS,
  type RunLimits,
  runConformance,
} from './run-conformance.ts';
export type { Transport, TransportAnswer } from './transport.ts';
export {
  type ConformanceCase,
  listVectorPaths,
  MANIFEST_PATH,
  parseVectorSet,
  type VectorSet,
  VectorSetError,
} from './vector-set.ts';
export {
  CASE_OPS,
  type CaseOp,
  CONTRACT,
  type Description,
  MAX_ANSWER_BYTES,
  MAX_CASES,
  MAX_REQUEST_BYTES,
  type Op,
  type WireCase,
} from './wire.ts';
