/** Verifications that are offered whether or not they are answered, and what became of them. Nobody repeats. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import type { World } from '../fixtures/world.ts';
import { percentile } from '../load/percentile.ts';
import type { Node } from './services.ts';

const GIVE_UP_MS = 4_000;
const ADDRESSES = 8;

interface Outcome {
  readonly status: number;
  /** Why there was no answer, as Node.js calls it. */
  readonly code: string | null;
  readonly sentMs: number;
  readonly tookMs: number;
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

  /** Of 503 and 429. */
  refusedMs(percent: number): number {
    const times = [...this.#of(503), ...this.#of(429)].map(({ tookMs }) => tookMs);
    return times.length === 0 ? 0 : percentile(times, percent);
  }

  /** Those sent later than so long after the beginning. */
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
    // A sender that is behind sends the last ones after the end.
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
  /** From several addresses, of each of which a node takes so many connections and no more. */
  readonly #agents = Array.from(
    { length: ADDRESSES },
    (_, index) => new Agent({ keepAlive: true, maxSockets: 256, localAddress: `127.0.0.${index + 2}` }),
  );
  readonly #signer: VerifyRequests;
  readonly #headers: Readonly<Record<string, string>>;
  #sent = 0;

  constructor(
    private readonly nodes: readonly Node[],
    world: World,
  ) {
    this.#signer = new VerifyRequests(world);
    this.#headers = {
      authorization: `Bearer ${world.relyingParty.apiKey}`,
      'content-type': 'application/json',
    };
  }

  /** Each sends its next when it has its answer. */
  async byClients(clients: number, seconds: number): Promise<Outcomes> {
    const beganMs = performance.now();
    const outcomes: Outcome[] = [];
    const client = async () => {
      while (performance.now() < beganMs + seconds * 1_000) outcomes.push(await this.#send());
    };
    await Promise.all(Array.from({ length: clients }, client));
    return new Outcomes(outcomes, seconds, beganMs);
  }

  async atRate(perSecond: number, seconds: number): Promise<Outcomes> {
    const beganMs = performance.now();
    const outcomes: Promise<Outcome>[] = [];
    for (let due = 0; due < perSecond * seconds; due++) {
      const waitMs = beganMs + (due * 1_000) / perSecond - performance.now();
      if (waitMs > 0) await delay(waitMs);
      outcomes.push(this.#send());
    }
    return new Outcomes(await Promise.all(outcomes), seconds, beganMs);
  }

  /** Status 0: no answer. */
  #send(): Promise<Outcome> {
    const turn = this.#sent++;
    const node = this.nodes[turn % this.nodes.length];
    const agent = this.#agents[Math.floor(turn / this.nodes.length) % ADDRESSES];
    const [body = Buffer.alloc(0)] = this.#signer.sign(1);
    const sentMs = performance.now();
    return new Promise((resolve) => {
      const finish = (status: number, code: string | null = null) =>
        resolve({ status, code, sentMs, tookMs: performance.now() - sentMs });
      const fail = (error: NodeJS.ErrnoException) => finish(0, `no answer (${error.code ?? error.name})`);
      const options = {
        agent,
        method: 'POST',
        headers: { ...this.#headers, 'content-length': body.length },
        signal: AbortSignal.timeout(GIVE_UP_MS),
      };
      const sent = request(`${node?.origin}/verify`, options, (response) => {
        response.resume();
        response.once('error', fail);
        response.once('end', () => finish(response.statusCode ?? 0));
      });
      sent.once('error', fail);
      sent.end(body);
    });
  }
}
