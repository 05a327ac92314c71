/**
 * The report of a run: JSON in wire form, of bounded size. Values are given as JSON text, so that an absent value (null
 * here) differs from the value `null`.
 */
import type { JsonValue } from '@svc/protocol';
import type { Difference } from './first-difference.ts';
import { ownText } from './own-text.ts';
import type { ConformanceCase, VectorSet } from './vector-set.ts';
import { CASE_OPS, type CaseOp, CONTRACT, type Description } from './wire.ts';

/**
 * `failed`: the answer was wrong or violated the contract. `undecided`: no answer. `unsupported`: the endpoint's
 * description does not list the op or the profile.
 */
export type Outcome = 'passed' | 'failed' | 'unsupported' | 'undecided';

/** The outcome of one case. */
export interface CaseReport {
  readonly id: string;
  readonly outcome: Outcome;
  /** What the case tests; only present if it did not pass. */
  readonly description?: string;
  /** Why it is `failed` or `undecided`. */
  readonly problem?: string;
  /** The first difference, if there was a result. */
  readonly difference?: {
    /** JSON pointer into the result. */
    readonly pointer: string;
    /** JSON text; null: absent. */
    readonly expected: string | null;
    /** JSON text, truncated; null: absent. */
    readonly got: string | null;
  };
}

/** Cases by outcome; `cases` is their sum. */
export interface Totals {
  readonly cases: number;
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
  readonly undecided: number;
}

/** The result of a run (docs/conformance.md), as plain JSON. */
export interface ConformanceReport {
  readonly contract: typeof CONTRACT;
  /**
   * `passed`: every supported case passed. `failed`: at least one answer was wrong. `error`: no wrong answer, but some
   * cases are undecided.
   */
  readonly status: 'passed' | 'failed' | 'error';
  /** Why the status is `error`, or the run ended early. */
  readonly error: string | null;
  readonly vectors: { readonly sha256: string; readonly conformance_version: string };
  /** The endpoint's description; null if there is none. */
  readonly endpoint: {
    readonly implementation: { readonly name: string; readonly version: string };
    readonly ops: readonly string[];
    readonly profiles: readonly string[];
    readonly receipts: boolean;
  } | null;
  readonly requests: number;
  readonly duration_ms: number;
  readonly totals: Totals;
  /** One entry for each op that takes cases. */
  readonly sets: readonly {
    readonly op: CaseOp;
    readonly totals: Totals;
    readonly cases: readonly CaseReport[];
  }[];
}

const MAX_SHOWN_CHARS = 500;

const cut = (text: string): string =>
  `${ownText(text, MAX_SHOWN_CHARS)}${text.length <= MAX_SHOWN_CHARS ? '' : '…'}`;

const shown = (value: JsonValue | undefined): string | null =>
  value === undefined ? null : cut(JSON.stringify(value));

export type Verdict = Omit<CaseReport, 'id' | 'description'>;

export const PASSED: Verdict = { outcome: 'passed' };
export const UNSUPPORTED: Verdict = { outcome: 'unsupported' };
export const failed = (problem: string): Verdict => ({ outcome: 'failed', problem: cut(problem) });
export const undecided = (problem: string): Verdict => ({ outcome: 'undecided', problem: cut(problem) });

export const different = ({ pointer, expected, got }: Difference): Verdict => {
  const texts = { expected: shown(expected), got: shown(got) };
  const place = pointer === '' ? 'the result' : cut(pointer);
  const should = texts.expected === null ? 'must be absent' : `must be ${texts.expected}`;
  const problem = `${place} ${should}, ${texts.got === null ? 'and is absent' : `not ${texts.got}`}`;
  return { outcome: 'failed', problem, difference: { pointer: cut(pointer), ...texts } };
};

export interface RunRecord {
  readonly vectors: VectorSet;
  readonly description: Description | null;
  /** Verdicts of the decided cases; all others are undecided. */
  readonly verdicts: ReadonlyMap<ConformanceCase, Verdict>;
  readonly requests: number;
  readonly durationMs: number;
  /** Why the run ended early; null if it did not. */
  readonly ended: string | null;
}

export const buildReport = ({ vectors, description, verdicts, ...run }: RunRecord): ConformanceReport => {
  const ended = run.ended === null ? null : cut(run.ended);
  const caseReport = (one: ConformanceCase): CaseReport => {
    const verdict = verdicts.get(one) ?? undecided(ended ?? 'not run');
    const { id, description: about } = one;
    return verdict.outcome === 'passed' ? { id, outcome: 'passed' } : { id, description: about, ...verdict };
  };
  const sets = CASE_OPS.map((op) => {
    const cases = vectors.cases.filter((one) => one.op === op).map(caseReport);
    return { op, totals: count(cases), cases };
  });
  const totals = count(sets.flatMap(({ cases }) => cases));
  const status = statusOf(totals);
  const undecidedWhy = sets
    .flatMap(({ cases }) => cases)
    .find(({ outcome }) => outcome === 'undecided')?.problem;
  return {
    contract: CONTRACT,
    status,
    error: ended ?? (status === 'error' ? (undecidedWhy ?? 'the set has no cases') : null),
    vectors: { sha256: vectors.sha256, conformance_version: vectors.conformanceVersion },
    endpoint: description && {
      implementation: description.implementation,
      ops: description.ops,
      profiles: description.profiles,
      receipts: description.receipts,
    },
    requests: run.requests,
    duration_ms: run.durationMs,
    totals,
    sets,
  };
};

const count = (cases: readonly CaseReport[]): Totals => {
  const having = (wanted: Outcome) => cases.filter(({ outcome }) => outcome === wanted).length;
  return {
    cases: cases.length,
    passed: having('passed'),
    failed: having('failed'),
    unsupported: having('unsupported'),
    undecided: having('undecided'),
  };
};

const statusOf = ({ passed, failed: wrong, undecided: open }: Totals): ConformanceReport['status'] => {
  if (wrong > 0) return 'failed';
  return open > 0 || passed === 0 ? 'error' : 'passed';
};
