/**
 * How many requests of one subject, and of one org, may be under way at once. Requests beyond
 * that are refused at once, so a flood cannot fill the lines in which others wait. An org has room beside one of its members.
 */
import type { Tenant } from '@svc/service';
import { ApiError } from './api-error.ts';

export interface InFlightLimits {
  readonly subjectAtOnce: number;
  readonly orgAtOnce: number;
}

const RETRY_AFTER_SECONDS = 1;

export class InFlight {
  readonly #subjects = new Map<string, number>();
  readonly #orgs = new Map<string, number>();

  constructor(private readonly limits: InFlightLimits) {}

  /** Answers how to leave, which is done once. Throws 429. */
  enter({ org, subject }: Tenant): () => void {
    const { subjectAtOnce, orgAtOnce } = this.limits;
    refuseAbove(this.#subjects.get(subject), subjectAtOnce);
    refuseAbove(this.#orgs.get(org), orgAtOnce);
    add(this.#subjects, subject, 1);
    add(this.#orgs, org, 1);
    return () => {
      add(this.#subjects, subject, -1);
      add(this.#orgs, org, -1);
    };
  }
}

const refuseAbove = (underWay = 0, atOnce: number): void => {
  if (underWay < atOnce) return;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests at once: ${atOnce} may be under way; wait for answers before you send more`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
};

const add = (counts: Map<string, number>, name: string, change: number): void => {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
};
