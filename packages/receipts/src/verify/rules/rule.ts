/** The type of a consistency rule, and the facts about a body that several rules use. */
import type { ReceiptBody } from '@svc/protocol';
import type { FailureCode } from '../../failure.ts';
import { findPublishedTable, type PublishedCheck, type PublishedTable } from '../published.ts';

export type Report = (code: FailureCode, message: string, path: string) => void;

export interface Rule {
  /** JSON pointers to the members that the rule reads. It runs only if all of them are well formed. */
  readonly reads: readonly string[];
  readonly check: (reading: Reading, report: Report) => void;
}

export const CHECKS = ['/protocol/checks', '/trust/checks'];
export const PROFILE = ['/protocol/profile', '/protocol/profile_hash'];

export const pathOf = (id: string): string => `/${id.startsWith('P') ? 'protocol' : 'trust'}/checks/${id}`;

export const outcomeOf = ({ protocol, trust }: ReceiptBody, id: string): boolean | 'skipped' | undefined =>
  (id.startsWith('P') ? protocol : trust).checks[id];

/** Every derived fact is computed once, on first use. */
export class Reading {
  readonly #groupPassed: { protocol?: boolean; trust?: boolean } = {};
  #allPassed: boolean | undefined;
  #table: PublishedTable | null | undefined;

  constructor(readonly body: ReceiptBody) {}

  outcome(id: string): boolean | 'skipped' | undefined {
    return outcomeOf(this.body, id);
  }

  passed(id: string): boolean {
    return this.outcome(id) === true;
  }

  /** Whether every check of the group that is named passed. */
  groupPassed(group: 'protocol' | 'trust'): boolean {
    this.#groupPassed[group] ??= Object.values(this.body[group].checks).every((outcome) => outcome === true);
    return this.#groupPassed[group];
  }

  /** Whether every check of the table passed; of an unknown table, every check that is named. */
  get allPassed(): boolean {
    this.#allPassed ??=
      this.groupPassed('protocol') &&
      this.groupPassed('trust') &&
      (this.table?.checks.every(({ id }) => this.passed(id)) ?? true);
    return this.#allPassed;
  }

  /** Null if the profile is unknown, or known only under other hashes. */
  get table(): PublishedTable | null {
    const { profile, profile_hash: hash } = this.body.protocol;
    this.#table ??= findPublishedTable(profile, hash);
    return this.#table;
  }

  /** The check was skipped although every check that it requires passed, so its look-up was unavailable. */
  isUnavailable({ id, requires }: PublishedCheck): boolean {
    return this.outcome(id) === 'skipped' && requires.every((required) => this.passed(required));
  }
}
