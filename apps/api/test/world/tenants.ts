/** A Principal, Agents and a relying party over the API, with Grants and Proofs signed as the SDKs sign them. */

import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeUtf8, type ReceiptBody } from '@svc/protocol';
import {
  createPrincipalClient,
  generatePrincipalKey,
  type PrincipalClient,
  purchase,
  signerFromJwk,
} from '@svc/sdk-principal';
import { type Agent, agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { ADMIN_TOKEN } from './api-node.ts';

export interface Tenants {
  readonly principalDid: string;
  readonly principalKey: string;
  readonly principal: PrincipalClient;
  readonly agent: Agent;
  readonly rpDid: string;
  readonly rpKey: string;
  /** The same tenants, with calls to another node. */
  at?(baseUrl: string): Tenants;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const connections = new HttpAgent({ keepAlive: true, maxSockets: 256 });

/** The symbol under which Node stores the dispatcher of `fetch`. */
const FETCHING = Symbol.for('undici.globalDispatcher.1');
interface Fetching {
  readonly constructor: new () => Fetching;
  close(): Promise<void>;
}

/**
 * Closes idle connections of this process. A program that is told to end waits a second for callers with an idle
 * connection; tests of anything else should leave none.
 */
export const closeIdleConnections = (): void => {
  for (const sockets of Object.values(connections.freeSockets))
    for (const one of sockets ?? []) one.destroy();
  const kept = globalThis as { [FETCHING]?: Fetching };
  const before = kept[FETCHING];
  if (before === undefined) return;
  // Calls under way continue on the former dispatcher, which then ends.
  kept[FETCHING] = new before.constructor();
  void before.close();
};

/** One request on a kept-alive connection; rejects when the connection breaks. */
export const call = (
  baseUrl: string,
  method: string,
  path: string,
  options: {
    readonly key?: string;
    readonly body?: unknown;
    readonly rawBody?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const sent = request(
      baseUrl + path,
      {
        method,
        agent: connections,
        headers: {
          ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': encodeUtf8(text).length }),
          ...options.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });

export const callJson = async <T>(...parameters: Parameters<typeof call>): Promise<T> => {
  const { status, text } = await call(...parameters);
  if (status < 200 || status > 299)
    throw new Error(`${parameters[1]} ${parameters[2]} answered ${status}: ${text}`);
  return JSON.parse(text) as T;
};

export const createTenants = async (baseUrl: string, rp: Record<string, unknown> = {}): Promise<Tenants> => {
  const suffix = randomBytes(5).toString('hex');
  const key = await generatePrincipalKey();
  const create = (path: string, body: object) =>
    callJson<{ did: string; api_key: string }>(baseUrl, 'POST', path, { key: ADMIN_TOKEN, body });
  const principal = await create('/principals', {
    kind: 'managed',
    slug: `p-${suffix}`,
    keys: [key.registration],
  });
  const relyingParty = await create('/relying-parties', {
    kind: 'managed',
    slug: `r-${suffix}`,
    verify_rate_limit_per_minute: 1_000_000,
    ...rp,
  });
  const agent = agentFromJwk((await generateAgentKey()).privateJwk);
  const signer = signerFromJwk(key.privateJwk, `${principal.did}#key-1`);
  const at = (nodeUrl: string): Tenants => ({
    principalDid: principal.did,
    principalKey: principal.api_key,
    principal: createPrincipalClient({ baseUrl: nodeUrl, apiKey: principal.api_key, signer }),
    agent,
    rpDid: relyingParty.did,
    rpKey: relyingParty.api_key,
    at,
  });
  return at(baseUrl);
};

export const ACTION = {
  type: 'commerce:purchase',
  resource: 'order/1',
  amount: 100,
  currency: 'USD',
} as const;

export interface HeldGrant {
  readonly grant: string;
  readonly grantId: string;
}

export const issueGrant = ({ principal, agent }: Tenants): Promise<HeldGrant> =>
  principal.grants.issue({
    agent: agent.did,
    capabilities: [purchase({ maxAmountMinor: 1000, currency: 'USD', resources: ['order/*'] })],
  });

/** A `/verify` body with an unused Proof. */
export const verifyBody = async (
  { agent, rpDid }: Tenants,
  { grant, grantId }: HeldGrant,
  iatMs?: number,
) => ({
  grant,
  proof: await signProof({
    agent,
    grantId,
    audience: rpDid,
    method: 'POST',
    url: 'https://shop.example/orders',
    action: ACTION,
    ...(iatMs === undefined ? {} : { now: () => iatMs }),
  }),
  action: ACTION,
});

export type Receipt = ReceiptBody & { readonly receipt: string };

/** The Receipt of a 200; throws for any other answer. */
export const receiptOf = ({ status, text }: Answer): Receipt => {
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  return JSON.parse(text) as Receipt;
};

/** Null where the service refused to decide (503): it fails closed where a loaded machine does not store in time. */
export const receiptUnlessRefused = (answer: Answer): Receipt | null =>
  answer.status === 503 ? null : receiptOf(answer);

const MAX_REPEATS = 100;
const REPEAT_AFTER_MS = 100;

/** Repeats what is answered 503, as that answer asks, until it gets another answer. */
export const untilSettled = async <A extends Pick<Answer, 'status'>>(send: () => Promise<A>): Promise<A> => {
  let answer = await send();
  for (let repeats = 0; answer.status === 503 && repeats < MAX_REPEATS; repeats++) {
    // A request that was refused because too many were under way would be refused again if it were repeated at once.
    await delay(REPEAT_AFTER_MS);
    answer = await send();
  }
  return answer;
};

export const callUntilSettled = (...parameters: Parameters<typeof call>): Promise<Answer> =>
  untilSettled(() => call(...parameters));
