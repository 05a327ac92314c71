/**
 * Verifies at a steady rate. A latency counts from when the request was due, not from when it was sent, so a pause of
 * the server shows even where the client waits for an answer before it sends on.
 */
import { Agent, request } from 'node:http';

export interface Timed {
  /** By `performance.now()`. */
  readonly dueMs: number;
  readonly latencyMs: number;
  /** False is a failure, such as 503 when the machine is too busy. */
  readonly isAllowed: boolean;
}

export class SteadyLoad {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #timed: Timed[] = [];
  readonly #timer: NodeJS.Timeout;
  #next = 0;
  #underWay = 0;

  constructor(
    private readonly target: { readonly url: string; readonly apiKey: string },
    private readonly bodies: readonly Buffer[],
    perSecond: number,
  ) {
    const beganMs = performance.now();
    this.#timer = setInterval(() => {
      while (beganMs + (this.#next * 1000) / perSecond <= performance.now())
        this.#send(beganMs + (this.#next++ * 1000) / perSecond);
    }, 1);
  }

  /** Requests that were due between two moments and have been answered. */
  between(fromMs: number, toMs: number): Timed[] {
    return this.#timed.filter(({ dueMs }) => dueMs >= fromMs && dueMs < toMs);
  }

  /** Ends the load. Throws when the requests ran out. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#underWay > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#agent.destroy();
    if (this.#next > this.bodies.length) throw new Error(`only ${this.bodies.length} requests were signed`);
  }

  #send(dueMs: number): void {
    const body = this.bodies[this.#next - 1];
    if (body === undefined) return;
    this.#underWay += 1;
    const headers = { authorization: `Bearer ${this.target.apiKey}`, 'content-type': 'application/json' };
    const end = (isAllowed: boolean) => {
      this.#underWay -= 1;
      this.#timed.push({ dueMs, latencyMs: performance.now() - dueMs, isAllowed });
    };
    const sent = request(this.target.url, { agent: this.#agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => end(response.statusCode === 200 && text.includes('"decision":"ALLOW"')));
    });
    sent.on('error', () => end(false));
    sent.end(body);
  }
}
