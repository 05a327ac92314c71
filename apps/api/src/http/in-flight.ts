/**
 * Limits how many requests of one subject, and of one org, may be under way at once. Further requests are refused at
 * once, so that a flood cannot fill the queues in which others wait. An org may have more under way than one of its
 * members.
 */
import { Tally, type Tenant } from '@svc/service';
import { ApiError } from './api-error.ts';

export interface InFlightLimits {
  readonly subjectAtOnce: number;
  readonly orgAtOnce: number;
}

const RETRY_AFTER_SECONDS = 1;

export class InFlight {
  readonly #subjects = new Tally();
  readonly #orgs = new Tally();

  constructor(private readonly limits: InFlightLimits) {}

  /** Returns the function to call once when the request has ended. Throws 429. */
  enter({ org, subject }: Tenant): () => void {
    const { subjectAtOnce, orgAtOnce } = this.limits;
    refuseAbove(this.#subjects.of(subject), subjectAtOnce);
    refuseAbove(this.#orgs.of(org), orgAtOnce);
    this.#subjects.add(subject, 1);
    this.#orgs.add(org, 1);
    return () => {
      this.#subjects.add(subject, -1);
      this.#orgs.add(org, -1);
    };
  }
}

const refuseAbove = (underWay: number, atOnce: number): void => {
  if (underWay < atOnce) return;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests at once: ${atOnce} may be under way; wait for answers before you send more`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
};
