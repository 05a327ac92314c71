/** Storage of conformance runs (interface §Conformance run): a queue that runners take runs from, and the results. */
import type { Sha256 } from '@svc/protocol';
import type { Tenant } from './tenant.ts';

export interface VectorSetName {
  readonly sha256: Sha256;
  readonly conformanceVersion: string;
}

export type ConformanceStatus = 'running' | 'passed' | 'failed' | 'error';

export interface ConformanceRunRecord {
  readonly runId: string;
  /** The account that may see it, as `accountOf` names callers. */
  readonly account: string;
  readonly endpoint: string;
  readonly status: ConformanceStatus;
  readonly createdAtMs: number;
  /** Null exactly while it is running. */
  readonly finishedAtMs: number | null;
  readonly requests: number;
  readonly vectors: VectorSetName;
  readonly error: string | null;
  /** JSON text in wire form. */
  readonly reportText: string | null;
}

export interface NewConformanceRun {
  readonly runId: string;
  readonly account: string;
  /** Id of the API key for which starts are counted. */
  readonly keyId: string;
  readonly endpoint: string;
  /** The tenant in whose turn the run is taken. */
  readonly tenant: Pick<Tenant, 'crowd' | 'org'>;
  /** Replaced by the vectors of the runner that takes the run. */
  readonly vectors: VectorSetName;
}

/** A run that one runner has taken. */
export interface TakenRun {
  readonly runId: string;
  readonly endpoint: string;
  /** Name of the runner's lease, new for every run that it takes. */
  readonly lease: string;
}

export interface EndedRun {
  readonly status: Exclude<ConformanceStatus, 'running'>;
  readonly requests: number;
  readonly error: string | null;
  readonly reportText: string | null;
}

export interface ConformanceRunRepository {
  /**
   * Number of runs of the org that wait or are running. Exact until the transaction ends: other transactions that
   * count, and so start, runs of the org wait for it.
   */
  countForUpdate(org: string): Promise<number>;
  /** Null, and nothing stored, while a run of the account waits or is running. */
  insert(run: NewConformanceRun): Promise<ConformanceRunRecord | null>;
  find(runId: string): Promise<ConformanceRunRecord | null>;
  /**
   * The number of starts by this key within the last hour, and the seconds until the first of them is over an hour old.
   * Exact within the transaction that inserted a run of the key's account: no other run of it can start until it ends.
   */
  countStarts(keyId: string): Promise<{ readonly starts: number; readonly firstLeavesInSeconds: number }>;
  /**
   * Takes the next run for this lease; null when none waits. Never answers a run twice. No org has a second run under
   * way before every other waiting org has one; all newcomers together are treated as one org. Within an org the run
   * that has waited longest is next.
   */
  take(lease: string, vectors: VectorSetName): Promise<TakenRun | null>;
  /** Prolongs the lease. False when the run does not belong to this lease any more: then its runner must stop. */
  prolong(run: TakenRun, requests: number): Promise<boolean>;
  /** Stores how the run ended. False, and nothing stored, when it does not belong to this lease any more. */
  finish(run: TakenRun, ended: EndedRun): Promise<boolean>;
  /**
   * Ends as `error` the runs that by `nowMs` have lost their runner, or found none within a quarter of an hour. Answers
   * how many.
   */
  endInterrupted(nowMs: number): Promise<number>;
  /**
   * Removes at most `limit` old runs and answers how many: those that ended more than 30 days before `nowMs`, and the
   * newcomers' runs that ended more than an hour before it and are not among their latest 1,000.
   */
  removeOld(limit: number, nowMs: number): Promise<number>;
}
