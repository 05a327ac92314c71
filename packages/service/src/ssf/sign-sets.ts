/**
 * Signing what a poll gives (protocol §17). What signs may be slow and serve few at once, and status lists wait for the
 * same key: a node signs one SET at a time for all polls together, tenants in turn, and a poll has what was signed in
 * time.
 */
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { withinMs } from '../lib/deadline.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { StreamRecord, WaitingEvent } from '../ports/streams.ts';
import type { Tenant } from '../ports/tenant.ts';
import { setClaims, signSet } from './set.ts';

/** For one answer. */
const SIGNING_MS = 1_000;
const MAX_WAITING = 1_024;
/**
 * Milliseconds that one SET may hold its place: longer than any signer allows itself. What takes longer is given up,
 * and the next one is tried.
 */
const PLACE_MS = 2_000;
/** What was signed and not acknowledged is asked for again, and so is what was signed too late for its answer. */
const REMEMBERED = 2_000;

type Deps = { readonly identity: Pick<ServiceDeps['identity'], 'baseUrl' | 'did' | 'statusKeys'> };

export class SetSigner {
  readonly #turns = new FairLimiter({
    ...{ atOnce: 1, atOncePerOrg: 1, maxWaiting: MAX_WAITING, waitMs: SIGNING_MS },
    refuse: (why) => serviceUnavailable(`SETs: ${why}`),
  });
  readonly #signed = new LRUCache<string, string>({ max: REMEMBERED });

  constructor(private readonly deps: Deps) {}

  /**
   * By `jti`, as many of these from the first on as are signed in time. `SERVICE_UNAVAILABLE`: there are some, and not
   * one was.
   */
  async sign(
    events: readonly WaitingEvent[],
    stream: StreamRecord,
    tenant: Tenant,
  ): Promise<Readonly<Record<string, string>>> {
    const sets: Record<string, string> = {};
    const dueMs = performance.now() + SIGNING_MS;
    for (const event of events) {
      try {
        const claims = setClaims(event, stream, this.deps.identity);
        sets[claims.jti] = await this.#find(claims, tenant, dueMs);
      } catch (error) {
        if (Object.keys(sets).length > 0) break;
        throw serviceUnavailable('what signs SETs is away', error);
      }
    }
    return sets;
  }

  async #find(claims: ReturnType<typeof setClaims>, tenant: Tenant, dueMs: number): Promise<string> {
    const { signer } = this.deps.identity.statusKeys;
    const name = `${signer.kid} ${claims.jti}`;
    const known = this.#signed.get(name);
    if (known !== undefined) return known;
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0) throw tooLate(SIGNING_MS);
    const make = async () => {
      const set = await signSet(signer, claims);
      this.#signed.set(name, set);
      return set;
    };
    const signing = this.#turns.run(
      { tenant },
      // One that was too late for its own answer may be ready by now.
      async () => this.#signed.get(name) ?? (await orTooLate(PLACE_MS, make())),
    );
    return orTooLate(leftMs, signing);
  }
}

const tooLate = (ms: number) => serviceUnavailable(`SETs: not signed within ${Math.round(ms)} ms`);

const orTooLate = <T>(ms: number, work: Promise<T>): Promise<T> =>
  withinMs(ms, work, () => {
    throw tooLate(ms);
  });
