/**
 * Limits how many requests of one subject, and of one org, may be under way at once. Further requests are refused at
 * once, so that a flood cannot fill the queues in which others wait. An org may have more under way than one of its
 * members. A few calls that take authority away have places of their key (decision 134).
 */
import { Tally, type Tenant } from '@svc/service';
import { ApiError } from './api-error.ts';

export interface InFlightLimits {
  readonly subjectAtOnce: number;
  readonly orgAtOnce: number;
  readonly reservedAtOnce: number;
}

/** Places of a key that other keys of its subject cannot take. */
interface Reserve {
  readonly key: string;
  /** True: the request takes a place of its org too. */
  readonly isMember: boolean;
}

interface Place {
  readonly tally: Tally;
  readonly name: string;
  readonly atOnce: number;
}

const RETRY_AFTER_SECONDS = 1;

export class InFlight {
  readonly #subjects = new Tally();
  readonly #orgs = new Tally();
  readonly #reserved = new Tally();

  constructor(private readonly limits: InFlightLimits) {}

  /** Returns the function to call once when the request has ended. Throws 429. */
  enter(tenant: Tenant, reserve: Reserve | null = null): () => void {
    const places = this.#placesOf(tenant, reserve);
    for (const place of places) requireRoom(place);
    for (const { tally, name } of places) tally.add(name, 1);
    return () => {
      for (const { tally, name } of places) tally.add(name, -1);
    };
  }

  #placesOf({ org, subject }: Tenant, reserve: Reserve | null): readonly Place[] {
    const { subjectAtOnce, orgAtOnce, reservedAtOnce } = this.limits;
    const ofOrg = { tally: this.#orgs, name: org, atOnce: orgAtOnce };
    if (reserve === null || this.#reserved.of(reserve.key) >= reservedAtOnce)
      return [{ tally: this.#subjects, name: subject, atOnce: subjectAtOnce }, ofOrg];
    const ofKey = { tally: this.#reserved, name: reserve.key, atOnce: reservedAtOnce };
    return reserve.isMember ? [ofKey, ofOrg] : [ofKey];
  }
}

const requireRoom = ({ tally, name, atOnce }: Place): void => {
  if (tally.of(name) < atOnce) return;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests at once: ${atOnce} may be under way; wait for answers before you send more`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
};
