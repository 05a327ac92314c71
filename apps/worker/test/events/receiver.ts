/**
 * Endpoints of subscribers on loopback, with TLS and host names of the tests, and a deliverer that reaches them through
 * the guard.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createWebhookPort, type DelivererDeps, deliverDue } from '@svc/process';
import type { Store } from '@svc/service';
import { WebhookSecrets } from '@svc/service';
import { createAuthority } from '@svc/testkit/outbound/certificates';
import { startHttpsHost } from '@svc/testkit/outbound/hosts';
import { addresses, HOST_ADDRESS, OTHER_ADDRESS, tableDns } from '@svc/testkit/outbound/world';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

export const ROOT = 'a-root-of-webhook-secrets-of-tests-alone';
export const secrets = new WebhookSecrets([ROOT]);
export const statusKey = generateKeyPairSync('ed25519');

const IDENTITY = {
  baseUrl: 'https://svc.example',
  statusBaseUrl: 'https://status.svc.example',
  domain: 'svc.example',
};

const answer200: Answer = (_request, response) => response.writeHead(204).end();

export interface Receivers {
  readonly received: Received[];
  /** Answers by host name; default: `answer200`. */
  readonly answers: Map<string, Answer>;
  readonly logged: string[];
  readonly deps: DelivererDeps;
  /** Delivers until nothing is due. */
  deliver(): Promise<void>;
}

/** Issued once for all tests. */
const certificates = (async () => {
  const authority = await createAuthority();
  return { ca: authority.ca, leaf: await authority.issue(['*.hooks.example']) };
})();

/** Closed after the test. `timeoutMs`: time limit of one attempt. */
export const startReceivers = async (store: Store, timeoutMs = 15_000): Promise<Receivers> => {
  const received: Received[] = [];
  const logged: string[] = [];
  const answers: Receivers['answers'] = new Map();
  const counts = new Map<string, number>();
  const { ca, leaf } = await certificates;
  const host = await startHttpsHost(leaf, async (request, response) => {
    const name = request.headers.host ?? '';
    received.push({ host: name, headers: request.headers, body: await text(request) });
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    (answers.get(name) ?? answer200)(request, response, nth);
  });
  onTestFinished(() => host.close());
  const webhooks = createWebhookPort({ env: 'production', outboundMap: null }, IDENTITY, {
    // An internal name resolves to an internal address; all others to the one host.
    dns: tableDns({
      'inside.hooks.example': addresses('127.0.0.1'),
      'svc.example': addresses(OTHER_ADDRESS),
      'status.svc.example': addresses(OTHER_ADDRESS),
    }),
    seams: {
      ca,
      connectTo: ({ address }) => (address === HOST_ADDRESS ? host.endpoint : { address, port: 443 }),
    },
    timeoutMs,
  });
  const note = (event: string, fields: Readonly<Record<string, unknown>>) =>
    void logged.push(`${event} ${JSON.stringify(fields)}`);
  const deps: DelivererDeps = {
    eventLog: store.eventLog,
    eventDeliveries: store.eventDeliveries,
    revocationNotices: store.revocationNotices,
    webhooks,
    secrets,
    rootMissing: new Set(),
    pushes: true,
    identity: {
      baseUrl: IDENTITY.baseUrl,
      did: 'did:web:svc.example',
      statusKeys: { signer: { kid: 'status-1', sign: (bytes) => sign(null, bytes, statusKey.privateKey) } },
    },
    clock: { nowMs: () => Date.now(), resync: async () => {} },
    holds: { list: () => [] },
    log: { info: note, warn: note, error: note },
    onFailure: (error) => {
      throw error;
    },
  };
  const deliver = () => deliverDue(deps, new AbortController().signal);
  return { received, answers, logged, deps, deliver };
};
