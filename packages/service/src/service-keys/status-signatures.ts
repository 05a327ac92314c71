/**
 * What the active status key signs for whoever asks: SETs of polls, attestations. What signs may be slow and serve few at
 * once, and status lists wait for the same key: a node signs one of these at a time, tenants in turn, and gives what
 * was signed in time (docs/decisions/0089, 0126).
 */
import { LRUCache } from 'lru-cache';
import { serviceUnavailable } from '../errors.ts';
import { withinMs } from '../lib/deadline.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { Signer } from '../ports/platform.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { ServiceIdentity } from './service-identity.ts';

/** For one answer. */
export const SIGNING_MS = 1_000;
const MAX_WAITING = 1_024;
/**
 * Milliseconds that one signature may hold its place: longer than any signer allows itself. What takes longer is given
 * up, and the next one is tried.
 */
const PLACE_MS = 2_000;
/** What was signed is asked for again, and so is what was signed too late for its answer. */
const REMEMBERED = 2_000;

/** One for all that a node signs under its status key. */
export const createSigningTurns = (): FairLimiter =>
  new FairLimiter({
    ...{ atOnce: 1, atOncePerOrg: 1, maxWaiting: MAX_WAITING, waitMs: SIGNING_MS },
    refuse: (why) => serviceUnavailable(`signatures: ${why}`),
  });

export class StatusSignatures {
  readonly #signed = new LRUCache<string, { readonly text: string; readonly atMs: number }>({
    max: REMEMBERED,
  });

  /** `rememberedMs`: for how long a signature is given again, unless others take its room. */
  constructor(
    private readonly identity: Pick<ServiceIdentity, 'statusKeys'>,
    private readonly turns: FairLimiter,
    private readonly rememberedMs = Number.POSITIVE_INFINITY,
  ) {}

  /**
   * What `sign` makes, or made before under this key and name. `SERVICE_UNAVAILABLE`: not by `dueMs`, monotonic, or too
   * many wait. Rejects with what `sign` rejects with.
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
      // One that was too late for its own answer may be ready by now.
      async () => this.#find(key) ?? (await orTooLate(PLACE_MS, make())),
    );
    return orTooLate(leftMs, signing);
  }

  /** Nothing that a key has signed which has ended since: such a key signs nothing more, and its signer says so. */
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
