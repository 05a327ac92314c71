/**
 * Calls that wait for a condition: an approval request is decided (protocol §16), or a stream is not empty (§17). They
 * hold no connection. While any call waits, the node asks storage twice a second for all of them together.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { rateLimited } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { Tally } from './tally.ts';

const ASK_EVERY_MS = 500;
/** Most waiting calls on a node. The limits below keep one org, and all newcomers together, from using all of them. */
const MAX_WAITING = 1_024;
const MAX_OF_NEWCOMERS = 512;
const MAX_OF_ORG = 256;
const MAX_OF_SUBJECT = 32;
const RETRY_AFTER_SECONDS = 2;

export class Waits {
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Numbers of waiting calls, by `Share.name`. */
  readonly #counts = new Tally();
  #isAsking = false;
  #isOver = false;

  /** `listOver` answers the ids for which the condition holds. */
  constructor(private readonly listOver: (ids: readonly string[]) => Promise<readonly string[]>) {}

  /**
   * Resolves when the condition holds for `id`, when `gone` is aborted, or after `ms`. Rejects with `RATE_LIMITED` when
   * too many wait on this node.
   */
  async until(id: string, tenant: Tenant, ms: number, gone: AbortSignal): Promise<void> {
    if (this.#isOver || gone.aborted) return;
    const shares = sharesOf(tenant);
    for (const { whose, most, name } of shares) {
      if (this.#counts.of(name) < most) continue;
      const what = `${most} calls of ${whose} wait on this node already, which is the limit`;
      throw rateLimited(`${what}. Ask without waiting, or wait for fewer.`, RETRY_AFTER_SECONDS);
    }
    for (const { name } of shares) this.#counts.add(name, 1);
    const over = new AbortController();
    const wake = () => over.abort();
    const others = this.#waiting.get(id);
    if (others === undefined) this.#waiting.set(id, new Set([wake]));
    else others.add(wake);
    void this.#ask();
    try {
      await delay(ms, undefined, { signal: AbortSignal.any([over.signal, gone]) }).catch(() => {});
    } finally {
      this.#leave(id, shares, wake);
    }
  }

  /** Ends all waits, because the node stops. Callers that ask again reach another node. */
  end(): void {
    this.#isOver = true;
    for (const wakes of this.#waiting.values()) for (const wake of wakes) wake();
  }

  #leave(id: string, shares: readonly Share[], wake: () => void): void {
    for (const { name } of shares) this.#counts.add(name, -1);
    const others = this.#waiting.get(id);
    others?.delete(wake);
    if (others?.size === 0) this.#waiting.delete(id);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#waiting.size > 0) {
        await delay(ASK_EVERY_MS, undefined, { ref: false });
        for (const id of await this.#listWaitedFor()) for (const wake of this.#waiting.get(id) ?? []) wake();
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** None where storage does not answer; the next round asks again. */
  async #listWaitedFor(): Promise<readonly string[]> {
    return this.listOver([...this.#waiting.keys()]).catch(() => []);
  }
}

interface Share {
  readonly name: string;
  readonly most: number;
  /** Name of the share in the refusal. */
  readonly whose: string;
}

/** The limits that a call of this tenant counts towards, the narrowest first. */
const sharesOf = ({ crowd, org, subject }: Tenant): readonly Share[] => [
  { name: `subject ${subject}`, most: MAX_OF_SUBJECT, whose: subject },
  { name: `org ${org}`, most: MAX_OF_ORG, whose: `the org ${org}` },
  ...(crowd === 'newcomers'
    ? [{ name: 'newcomers', most: MAX_OF_NEWCOMERS, whose: 'orgs without an entitlement' }]
    : []),
  { name: 'all', most: MAX_WAITING, whose: 'all tenants' },
];
