/**
 * Sends verifications at a rate that does not depend on the answers, and records their outcomes. Nothing is repeated.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Pool } from 'undici';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import type { World } from '../fixtures/world.ts';
import { percentile } from '../load/percentile.ts';
import type { Node } from './services.ts';

const GIVE_UP_MS = 4_000;
const ADDRESSES = 8;
/**
 * Below the 512 connections that a node accepts from an address, and more than can be under way within the deadline, so
 * that nothing waits in the sender.
 */
const CONNECTIONS_OF_EACH = 256;
const SIGNED_AT_ONCE = 20;
/**
 * Most requests sent in one turn of the event loop. A sender that is behind would otherwise read its answers late, and
 * count them as late.
 */
const SENT_AT_ONCE = 20;

interface Outcome {
  readonly status: number;
  /** Why there was no answer: the error code of Node.js. */
  readonly code: string | null;
  readonly sentMs: number;
  readonly tookMs: number;
  /** Milliseconds between the due time and the sending: the sender's own delay, not the service's. */
  readonly behindMs: number;
}

export class Outcomes {
  constructor(
    private readonly outcomes: readonly Outcome[],
    private readonly seconds: number,
    private readonly beganMs: number,
  ) {}

  get perSecond(): number {
    return this.#of(200).length / this.seconds;
  }

  get notAnswered(): number {
    return this.outcomes.length - this.#of(200).length;
  }

  /** Percentile of the time to a 503 or 429. */
  refusedMs(percent: number): number {
    const times = [...this.#of(503), ...this.#of(429)].map(({ tookMs }) => tookMs);
    return times.length === 0 ? 0 : percentile(times, percent);
  }

  /** Percentile of the sender's delay: how long after they were due requests were sent. */
  behindMs(percent: number): number {
    return percentile(
      this.outcomes.map(({ behindMs }) => behindMs),
      percent,
    );
  }

  /** The requests sent later than `ms` after the beginning. */
  since(ms: number): Outcomes {
    return this.#between(ms, this.seconds * 1_000);
  }

  minutes(): readonly Outcomes[] {
    const count = Math.ceil(this.seconds / 60);
    return Array.from({ length: count }, (_, minute) =>
      this.#between(minute * 60_000, Math.min((minute + 1) * 60, this.seconds) * 1_000),
    );
  }

  #between(fromMs: number, toMs: number): Outcomes {
    const beganMs = this.beganMs + fromMs;
    // A sender that is behind sends the last requests after the end.
    const isLast = toMs >= this.seconds * 1_000;
    const isWithin = ({ sentMs }: Outcome) => sentMs >= beganMs && (isLast || sentMs < this.beganMs + toMs);
    return new Outcomes(this.outcomes.filter(isWithin), (toMs - fromMs) / 1_000, beganMs);
  }

  describe(): string {
    const name = ({ status, code }: Outcome) => code ?? String(status);
    const parts = [...new Set(this.outcomes.map(name))].sort().map((what) => {
      const times = this.outcomes.filter((one) => name(one) === what).map(({ tookMs }) => tookMs);
      const rate = (times.length / this.seconds).toFixed(0);
      const [p50, p99] = [50, 99].map((percent) => percentile(times, percent).toFixed(0));
      return `${what} ${rate}/s (p50 ${p50} ms, p99 ${p99} ms)`;
    });
    return parts.join(', ');
  }

  #of(status: number): Outcome[] {
    return this.outcomes.filter((one) => one.status === status);
  }
}

export class Offered {
  readonly #pools: readonly Pool[];
  readonly #signer: VerifyRequests;
  readonly #headers: Readonly<Record<string, string>>;
  #signed: Buffer[] = [];
  #sent = 0;

  constructor(nodes: readonly Node[], world: World) {
    // Requests come from several addresses, since a node limits the connections of each.
    this.#pools = Array.from({ length: ADDRESSES }, (_, index) => `127.0.0.${index + 2}`).flatMap((address) =>
      nodes.map(({ origin }) => poolFrom(address, origin)),
    );
    this.#signer = new VerifyRequests(world);
    this.#headers = {
      authorization: `Bearer ${world.relyingParty.apiKey}`,
      'content-type': 'application/json',
    };
  }

  /** Each client sends its next request when it has its answer. */
  async byClients(clients: number, seconds: number): Promise<Outcomes> {
    const beganMs = performance.now();
    const outcomes: Outcome[] = [];
    const client = async () => {
      while (performance.now() < beganMs + seconds * 1_000)
        outcomes.push(await this.#send(performance.now()));
    };
    await Promise.all(Array.from({ length: clients }, client));
    return new Outcomes(outcomes, seconds, beganMs);
  }

  async atRate(perSecond: number, seconds: number): Promise<Outcomes> {
    const beganMs = performance.now();
    const outcomes: Promise<Outcome>[] = [];
    for (let due = 0; due < perSecond * seconds; due++) {
      const dueMs = beganMs + (due * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await delay(waitMs);
      else if (due % SENT_AT_ONCE === 0) await nextTurn();
      outcomes.push(this.#send(dueMs));
    }
    return new Outcomes(await Promise.all(outcomes), seconds, beganMs);
  }

  /** Status 0 means no answer. */
  async #send(dueMs: number): Promise<Outcome> {
    const pool = this.#pools[this.#sent++ % this.#pools.length];
    if (this.#signed.length === 0) this.#signed = this.#signer.sign(SIGNED_AT_ONCE);
    const body = this.#signed.pop() ?? Buffer.alloc(0);
    const sentMs = performance.now();
    const finish = (status: number, code: string | null = null): Outcome => {
      const nowMs = performance.now();
      return { status, code, sentMs, tookMs: nowMs - sentMs, behindMs: sentMs - dueMs };
    };
    try {
      const answer = await pool?.request({ path: '/verify', method: 'POST', headers: this.#headers, body });
      await answer?.body.dump();
      return finish(answer?.statusCode ?? 0);
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      return finish(0, `no answer (${code ?? name})`);
    }
  }
}

const poolFrom = (localAddress: string, origin: string): Pool =>
  new Pool(origin, {
    connections: CONNECTIONS_OF_EACH,
    connect: { localAddress, timeout: GIVE_UP_MS },
    headersTimeout: GIVE_UP_MS,
    bodyTimeout: GIVE_UP_MS,
  });
