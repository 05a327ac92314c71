/**
 * Executes one claimed run under a lease that is renewed while it runs. A process that loses the lease stops and stores
 * nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RunLimits, runConformance, type Transport, type VectorSet } from '@svc/conformance';
import type { ConformanceRunRepository, EndedRun, TakenRun } from '@svc/service';
import { fitReport } from './fit-report.ts';

export interface RunDeps {
  readonly runs: Pick<ConformanceRunRepository, 'prolong' | 'finish'>;
  readonly vectors: VectorSet;
  readonly transport: Transport;
  readonly limits?: Partial<RunLimits>;
  /** Default: a third of the lease (store-pg, repositories/conformance-runs.ts). */
  readonly prolongEveryMs?: number;
}

/** `lost`: the lease was lost, and the run belongs to another process. */
export interface RanRun {
  readonly runId: string;
  readonly outcome: EndedRun['status'] | 'lost';
  readonly requests: number;
  readonly durationMs: number;
  readonly error: string | null;
}

const PROLONGED_EVERY_MS = 5_000;
const STORE_ATTEMPTS = 4;
const STORE_AGAIN_MS = 1_000;

/** Never rejects: on a storage failure the run is released when its lease expires. */
export const runTaken = async (deps: RunDeps, run: TakenRun, stop: AbortSignal): Promise<RanRun> => {
  const beganMs = performance.now();
  const over = new AbortController();
  const end = AbortSignal.any([stop, over.signal]);
  let requests = 0;
  let isRefused = false;
  const counted: Transport = {
    post: async (...request) => {
      end.throwIfAborted();
      requests += 1;
      const answer = await unlessAborted(end, deps.transport.post(...request));
      if (answer.kind === 'refused') {
        requests -= 1;
        isRefused = true;
      }
      return answer;
    },
  };
  const lost = keepLease(deps, run, () => requests, over);
  const ended = await conclude({ ...deps, transport: counted }, run, end, () => ({ requests, isRefused }));
  over.abort();
  const isLost = (await lost) || !(await store(deps.runs, run, ended));
  const { status, error } = ended;
  return {
    runId: run.runId,
    outcome: isLost ? 'lost' : status,
    requests,
    durationMs: performance.now() - beganMs,
    error: isLost ? null : error,
  };
};

const conclude = async (
  { vectors, transport, limits = {} }: RunDeps,
  { endpoint }: TakenRun,
  end: AbortSignal,
  soFar: () => { readonly requests: number; readonly isRefused: boolean },
): Promise<EndedRun> => {
  try {
    const report = await runConformance({
      url: endpoint,
      vectors,
      transport,
      limits,
      clock: { nowMs: () => performance.now() },
    });
    // An endpoint that did not answer has not passed: `error` is only for runs that the guard refused (interface
    // §Conformance).
    const status = report.status === 'error' && !soFar().isRefused ? 'failed' : report.status;
    const { error, requests } = report;
    return { status, error, requests, reportText: fitReport({ ...report, status }) };
  } catch (error) {
    const why = end.aborted ? 'interrupted: the runner was stopped' : 'interrupted: the runner failed';
    if (!end.aborted) reportUnexpected(error);
    return { status: 'error', error: why, requests: soFar().requests, reportText: null };
  }
};

/** Endpoints cannot make `runConformance` throw, so an exception is a bug and is reported. */
const reportUnexpected = (error: unknown): void => {
  process.emitWarning(error instanceof Error ? error : String(error));
};

/** Resolves when `over` is aborted; true if this function aborted it because the lease was lost. */
const keepLease = async (
  { runs, prolongEveryMs = PROLONGED_EVERY_MS }: RunDeps,
  run: TakenRun,
  requests: () => number,
  over: AbortController,
): Promise<boolean> => {
  for (;;) {
    await pause(prolongEveryMs, undefined, { signal: over.signal, ref: false }).catch(() => {});
    if (over.signal.aborted) return false;
    // Retried if storage fails; if it keeps failing, the lease expires.
    const isHeld = await runs.prolong(run, requests()).catch(() => true);
    if (over.signal.aborted) return false;
    if (isHeld) continue;
    over.abort();
    return true;
  }
};

const store = async (runs: RunDeps['runs'], run: TakenRun, ended: EndedRun): Promise<boolean> => {
  for (let attempt = 1; attempt <= STORE_ATTEMPTS; attempt++) {
    const stored = await runs.finish(run, ended).catch(() => null);
    // A write whose acknowledgement was lost may have succeeded: the retry then finds the run ended.
    if (stored !== null) return stored || attempt > 1;
    if (attempt < STORE_ATTEMPTS) await pause(STORE_AGAIN_MS);
  }
  return false;
};

/** Rejects at once when the signal is aborted; the pending operation is left to its own time-out. */
const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
