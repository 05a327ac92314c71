/**
 * Several nodes of the API on one database, and clients that spread over them: the rate limit of a key counts per node
 * and minute, and the operator has only one token. One request is under way at a time, so more nodes do not make
 * anything faster.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiNode, type ApiNodeRequest, type Place, startApiNode } from '../harness/contestants.ts';

const NODES = 4;
/** The limit of interface §Limits, less a reserve for other requests. */
const PER_KEY_AND_MINUTE = 110;
const WINDOW_MS = 60_000;
/** Limits for all keys of one subject, and of an org: high enough for all their keys together. */
const TOGETHER = { SVC_SUBJECT_PER_MINUTE: '1000000', SVC_ORG_PER_MINUTE: '10000000' };

export type Nodes = readonly [ApiNode, ...ApiNode[]];

/** `first` is a node that already runs. */
export async function startNodes(
  place: Place,
  api: string,
  databaseUrl: string,
  { first: found, environment: added = {} }: Pick<ApiNodeRequest, 'first' | 'environment'> = {},
): Promise<Nodes> {
  const environment = { ...TOGETHER, ...added };
  const first = found ?? (await startApiNode(place, { name: 'ledger', api, databaseUrl, environment }));
  const others: ApiNode[] = [];
  while (others.length < NODES - 1)
    others.push(await startApiNode(place, { name: 'ledger', api, databaseUrl, first, environment }));
  return [first, ...others];
}

export interface Answer {
  readonly ms: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: number;
}

export interface GetOptions {
  /** Bearer token; absent on a public route. */
  readonly key?: string;
  /** False where the body is only counted. Default true. */
  readonly isRead?: boolean;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** Measures a request from sending it to the last byte of the answer. Throws on any status but 200. */
export function get(node: ApiNode, path: string, { key, isRead = true }: GetOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const sent = request(`${node.origin}${path}`, { agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (isRead || response.statusCode !== 200) chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const ms = performance.now() - began;
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve({ ms, text, headers: response.headers, bytes });
        else reject(new Error(`GET ${path}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Selects pairs of a node and a key in turn, so that none exceeds its rate limit. */
export class Turns {
  private readonly window = { number: Number.NaN, counts: new Map<string, number>() };

  constructor(private readonly nodes: Nodes) {}

  /** Waits for the next minute where every pair has used its limit. */
  async take(keys: readonly string[]): Promise<{ node: ApiNode; key: string }> {
    for (;;) {
      const { counts } = this.turn();
      for (const node of this.nodes) {
        const key = keys.find((one) => (counts.get(`${node.origin} ${one}`) ?? 0) < PER_KEY_AND_MINUTE);
        if (key === undefined) continue;
        const pair = `${node.origin} ${key}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
        return { node, key };
      }
      await delay(WINDOW_MS - (Date.now() % WINDOW_MS) + 1_000);
    }
  }

  private turn() {
    const number = Math.floor(Date.now() / WINDOW_MS);
    if (number !== this.window.number) Object.assign(this.window, { number, counts: new Map() });
    return this.window;
  }
}
