/**
 * Signatures by the active status key for callers: SETs of polls, and attestations. The signer may be slow and take few
 * calls at once, and status lists need the same key. So a node makes one of these signatures at a time, tenants take
 * turns, and an answer has only what was signed in time (docs/decisions/0089, 0126).
 */
import { LRUCache } from 'lru-cache';
import { serviceUnavailable } from '../errors.ts';
import { withinMs } from '../lib/deadline.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { Signer } from '../ports/platform.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { ServiceIdentity } from './service-identity.ts';

/** Milliseconds for the signatures of one answer. */
export const SIGNING_MS = 1_000;
const MAX_WAITING = 1_024;
/**
 * Milliseconds that one signature may hold its place, more than the deadline of any signer. After that it is given up,
 * and the next one begins.
 */
const PLACE_MS = 2_000;
/** Number of cached signatures: callers ask again for them, also for those that were too late for their answer. */
const REMEMBERED = 2_000;

/** The limiter that all signatures of a node by its status key share. */
export const createSigningTurns = (): FairLimiter =>
  new FairLimiter({
    ...{ atOnce: 1, atOncePerOrg: 1, maxWaiting: MAX_WAITING, waitMs: SIGNING_MS },
    refuse: (why) => serviceUnavailable(`signatures: ${why}`),
  });

export class StatusSignatures {
  readonly #signed = new LRUCache<string, { readonly text: string; readonly atMs: number }>({
    max: REMEMBERED,
  });

  /** `rememberedMs`: how long a signature is cached at most. */
  constructor(
    private readonly identity: Pick<ServiceIdentity, 'statusKeys'>,
    private readonly turns: FairLimiter,
    private readonly rememberedMs = Number.POSITIVE_INFINITY,
  ) {}

  /**
   * The text that `sign` makes, or that was cached under this key and name. Rejects with `SERVICE_UNAVAILABLE` when it
   * is not made by `dueMs` (monotonic) or too many wait, and with what `sign` rejects with.
   */
  async get(
    name: string,
    tenant: Tenant,
    dueMs: number,
    sign: (signer: Signer) => Promise<string>,
  ): Promise<string> {
    const { signer } = this.identity.statusKeys;
    const key = `${signer.kid} ${name}`;
    const known = this.#find(key);
    if (known !== undefined) return known;
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0) throw tooLate(SIGNING_MS);
    const make = async () => {
      const text = await sign(signer);
      this.#signed.set(key, { text, atMs: performance.now() });
      return text;
    };
    const signing = this.turns.run(
      { tenant },
      // A signature that was too late for its own answer may be in the cache by now.
      async () => this.#find(key) ?? (await orTooLate(PLACE_MS, make())),
    );
    return orTooLate(leftMs, signing);
  }

  /** The cached text; undefined if the key has ended since. Then `sign` is called, and its signer throws. */
  #find(key: string): string | undefined {
    const signed = this.#signed.get(key);
    if (signed === undefined || performance.now() - signed.atMs >= this.rememberedMs) return undefined;
    const { signer, published } = this.identity.statusKeys;
    const hasEnded = published.some(({ kid, time }) => kid === signer.kid && time.untilMs !== null);
    return hasEnded ? undefined : signed.text;
  }
}

const tooLate = (ms: number) => serviceUnavailable(`not signed within ${Math.round(ms)} ms`);

const orTooLate = <T>(ms: number, work: Promise<T>): Promise<T> =>
  withinMs(ms, work, () => {
    throw tooLate(ms);
  });
