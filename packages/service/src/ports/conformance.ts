/** Storage of conformance runs (interface §Conformance run): a queue that runners take from, and what came of each. */
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
  /** What starts are counted by. */
  readonly keyId: string;
  readonly endpoint: string;
  /** Whose turn it is with it. */
  readonly tenant: Pick<Tenant, 'crowd' | 'org'>;
  /** Replaced by those of the runner that takes it. */
  readonly vectors: VectorSetName;
}

/** A run in the hands of one runner. */
export interface TakenRun {
  readonly runId: string;
  readonly endpoint: string;
  /** What the runner names itself by; new for every run that is taken. */
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
   * How many runs of the org wait or are running. Exact until the transaction ends: nobody else counts, and so starts, one
   * of the org meanwhile.
   */
  countForUpdate(org: string): Promise<number>;
  /** Null, and nothing stored, while the account has a run that is running. */
  insert(run: NewConformanceRun): Promise<ConformanceRunRecord | null>;
  find(runId: string): Promise<ConformanceRunRecord | null>;
  /**
   * The starts of this key within the last hour, and in how many seconds the first of them is over an hour ago. Exact
   * within the transaction that inserted a run of the key's account: nobody else can start one until it ends.
   */
  countStarts(keyId: string): Promise<{ readonly starts: number; readonly firstLeavesInSeconds: number }>;
  /**
   * The next run, for this lease alone; null when none waits. Never answers a run twice. Orgs have one each under way
   * before any has a second, newcomers together as one org; of an org the run that has waited longest.
   */
  take(lease: string, vectors: VectorSetName): Promise<TakenRun | null>;
  /** Prolongs the lease. False when the run is not this lease's any more: whoever holds it must stop. */
  prolong(run: TakenRun, requests: number): Promise<boolean>;
  /** Stores how it ended. False, and nothing stored, when the run is not this lease's any more. */
  finish(run: TakenRun, ended: EndedRun): Promise<boolean>;
  /** Ends as `error` what by `nowMs` lost its runner, or found none within a quarter of an hour. Answers how many. */
  endInterrupted(nowMs: number): Promise<number>;
  /**
   * Removes the next runs that ended more than 30 days before `nowMs`, and of newcomers those beyond the latest 1,000 that
   * ended more than an hour before it, at most `limit` of them. Answers how many.
   */
  removeOld(limit: number, nowMs: number): Promise<number>;
}
