/**
 * A run: asks what the endpoint supports, sends every supported case, and compares the results. It makes one request at
 * a time, and is bounded in requests and time. Only the verdicts on the answers are kept.
 */
import type { JsonValue } from '@svc/protocol';
import { findFirstDifference } from './first-difference.ts';
import { type Batch, expectedResult, planBatches } from './plan.ts';
import {
  buildReport,
  type ConformanceReport,
  different,
  failed,
  PASSED,
  type RunRecord,
  UNSUPPORTED,
  undecided,
  type Verdict,
} from './report.ts';
import type { Transport } from './transport.ts';
import type { ConformanceCase, VectorSet } from './vector-set.ts';
import {
  casesRequest,
  type Description,
  describeRequest,
  MAX_ANSWER_BYTES,
  parseDescription,
  parseResults,
  type Read,
  type WireResult,
} from './wire.ts';

/** Limits of a run: number of requests, milliseconds, bytes. */
export interface RunLimits {
  /** Including `describe`. */
  readonly maxRequests: number;
  /** Time limit of the whole run. */
  readonly runMs: number;
  /** Time limit of one request, from its start to the end of its answer. */
  readonly requestMs: number;
  readonly maxAnswerBytes: number;
}

/** Limits of the interface: 50 requests and two minutes. */
export const RUN_LIMITS: RunLimits = {
  maxRequests: 50,
  runMs: 120_000,
  requestMs: 15_000,
  maxAnswerBytes: MAX_ANSWER_BYTES,
};

/** Progress of a run: requests made, cases answered of all, and wrong answers. */
export interface Progress {
  readonly requests: number;
  readonly plannedRequests: number;
  readonly cases: number;
  readonly plannedCases: number;
  readonly failed: number;
}

/**
 * The inputs of a run: the endpoint's URL, the vectors, a transport and a clock. Omitted limits are taken from
 * `RUN_LIMITS`.
 */
export interface ConformanceRun {
  readonly url: string;
  readonly vectors: VectorSet;
  readonly transport: Transport;
  readonly limits?: Partial<RunLimits>;
  /**
   * The endpoint is a library, which may leave out `evaluate`. Not for a run on which others rely, because `passed`
   * then says less.
   */
  readonly isLibrary?: boolean;
  /** Monotonic milliseconds. */
  readonly clock: { nowMs(): number };
  /** Called after every request; an exception ends the run. */
  readonly onProgress?: (progress: Progress) => void;
}

/** The run ends after this many consecutive requests without an answer. */
const MAX_SILENCES_IN_A_ROW = 3;

/**
 * Resolves with the report; nothing that the endpoint does makes it reject. Transport and vectors are in
 * `@svc/conformance/node`.
 * @example
 * const clock = { nowMs: () => performance.now() };
 * const { status, totals } = await runConformance({ url: 'https://engine.example/', vectors, transport, clock });
 */
export const runConformance = async (run: ConformanceRun): Promise<ConformanceReport> => {
  const session = new Session(run);
  const ended = await session.run();
  return buildReport({ ...session.record(), ended });
};

/**
 * An answer, or why there is no usable one. `isSilent`: the endpoint did not answer, as opposed to answering wrongly.
 */
type Answer<T> = Read<T> & { readonly isSilent?: boolean };

class Session {
  readonly #run: ConformanceRun;
  readonly #limits: RunLimits;
  readonly #startMs: number;
  readonly #verdicts = new Map<ConformanceCase, Verdict>();
  #description: Description | null = null;
  #requests = 0;
  #silences = 0;
  #failed = 0;

  constructor(run: ConformanceRun) {
    this.#run = run;
    this.#limits = { ...RUN_LIMITS, ...run.limits };
    this.#startMs = run.clock.nowMs();
  }

  record(): Omit<RunRecord, 'ended'> {
    return {
      vectors: this.#run.vectors,
      description: this.#description,
      verdicts: this.#verdicts,
      requests: this.#requests,
      durationMs: Math.round(this.#run.clock.nowMs() - this.#startMs),
    };
  }

  /** Why the run ended before every case was sent; null if it did not. */
  async run(): Promise<string | null> {
    const described = await this.#ask(describeRequest(), (body) =>
      parseDescription(body, this.#run.isLibrary),
    );
    if (!described.ok) return `describe: ${described.problem}`;
    this.#description = described.value;
    const maxBatches = this.#limits.maxRequests - this.#requests;
    const plan = planBatches(this.#run.vectors, described.value, maxBatches);
    if (plan === null)
      return `the vectors do not fit into ${this.#limits.maxRequests} requests of the size that the endpoint takes`;
    for (const one of plan.unsupported) this.#verdicts.set(one, UNSUPPORTED);
    for (const batch of plan.batches) {
      if (this.#remainingMs() <= 0) return `the run has reached its limit of ${this.#limits.runMs} ms`;
      if (this.#silences === MAX_SILENCES_IN_A_ROW)
        return `${MAX_SILENCES_IN_A_ROW} requests in a row had no answer`;
      await this.#runBatch(batch, described.value);
      this.#report(plan.batches);
    }
    return null;
  }

  #remainingMs(): number {
    return this.#limits.runMs - (this.#run.clock.nowMs() - this.#startMs);
  }

  async #runBatch({ op, cases }: Batch, { receipts }: Description): Promise<void> {
    const asked = new Set(cases.map(({ id }) => id));
    const wireCases = cases.map(({ id, input }) => ({ id, input }));
    const answer = await this.#ask(casesRequest(op, wireCases), (body) => parseResults(body, op, asked));
    for (const one of cases) {
      const verdict = answer.ok
        ? judge(answer.value.get(one.id), expectedResult(one, receipts))
        : (answer.isSilent === true ? undecided : failed)(answer.problem);
      this.#verdicts.set(one, verdict);
      if (verdict.outcome === 'failed') this.#failed++;
    }
  }

  async #ask<T>(jsonText: string, parse: (body: Uint8Array) => Read<T>): Promise<Answer<T>> {
    const timeoutMs = Math.max(1, Math.min(this.#limits.requestMs, Math.floor(this.#remainingMs())));
    const { maxAnswerBytes: maxBytes } = this.#limits;
    const answer = await this.#run.transport.post(this.#run.url, jsonText, { maxBytes, timeoutMs });
    if (answer.kind !== 'refused') this.#requests++;
    const isSilent =
      answer.kind === 'refused' || (answer.kind === 'unreachable' && !BREACHES.has(answer.fault));
    this.#silences = isSilent ? this.#silences + 1 : 0;
    if (answer.kind !== 'answered') return { ok: false, isSilent, problem: answer.why };
    return answer.status === 200
      ? parse(answer.body)
      : { ok: false, problem: `the status must be 200, not ${answer.status}` };
  }

  #report(batches: readonly Batch[]): void {
    this.#run.onProgress?.({
      requests: this.#requests,
      plannedRequests: batches.length + 1,
      cases: this.#verdicts.size,
      plannedCases: this.#run.vectors.cases.length,
      failed: this.#failed,
    });
  }
}

/** Transport failures that violate the contract, unlike a missing answer. */
const BREACHES: ReadonlySet<string> = new Set(['encoding', 'too-large']);

const judge = (given: WireResult | undefined, expected: JsonValue): Verdict => {
  if (given === undefined) return failed('the answer has no result for this case');
  if ('error' in given) return failed(`the endpoint says: ${given.error}`);
  const difference = findFirstDifference(expected, given.result);
  return difference === null ? PASSED : different(difference);
};
