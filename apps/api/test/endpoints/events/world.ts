/** A receiver on loopback, a deployment that reaches it, and the worker's deliverer within this process. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { deliverDue, openDeliverer, readConfig } from '@svc/process';
import { Registry } from 'prom-client';
import { afterAll, beforeAll } from 'vitest';
import type { InnerNode } from '../../world/api-node.ts';
import { type Deployment, withOwnDeployment } from '../../world/deployment.ts';

export interface Received {
  readonly id: string;
  readonly signatures: number;
  /** The request as it was received. */
  readonly request: { readonly headers: IncomingHttpHeaders; readonly body: string };
  readonly body: { readonly type: string; readonly subscription_id: string; readonly data: object };
}

export const BODY = { url: 'https://hooks.example/', types: ['decision.deny', 'grant.revoked'] };

/** Call it at the top of a test file. */
export const withReceiver = async () => {
  const received: Received[] = [];
  const receiver = createServer(async (request, response) => {
    const raw = await text(request);
    const signatures = String(request.headers['webhook-signature']).split(' ').length;
    const { headers } = request;
    const id = String(headers['webhook-id']);
    received.push({ id, signatures, request: { headers, body: raw }, body: JSON.parse(raw) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const map = JSON.stringify({ 'hooks.example': `http://127.0.0.1:${port}` });
  const env = { SVC_OUTBOUND_MAP: map, SVC_WEBHOOK_KEYS: 'a-root-for-tests-that-is-long-enough-0' };
  const deployment = withOwnDeployment(env);
  afterAll(() => void receiver.close());
  const call = (method: string, path: string, key: string, body?: unknown) =>
    deployment.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const shared = { key: '' };
  beforeAll(async () => {
    shared.key = (await deployment.createTenants()).rpKey;
  });
  return {
    deployment,
    received,
    /** The key of this file's relying party. */
    get rpKey() {
      return shared.key;
    },
    call,
    create: async (key: string, body: object = BODY) =>
      (await call('POST', '/event-subscriptions', key, body)).json,
    act: (key: string, id: unknown, action: string, body?: unknown) =>
      call('POST', `/event-subscriptions/${id}/${action}`, key, body),
    list: async (key: string) =>
      (await call('GET', '/event-subscriptions', key)).json.subscriptions as { readonly secrets: unknown }[],
    deliveriesOf: async (key: string, id: unknown) =>
      (await call('GET', `/event-subscriptions/${id}/deliveries`, key)).json.deliveries,
    /** Makes a decision that denies; returns its Receipt. */
    deny: async (key: string) =>
      (await deployment.call('POST', '/verify', { key, body: { grant: '', proof: '', action: {} } })).json,
    /** The audit events of a subscription, oldest first. */
    auditedOf: async (id: unknown): Promise<string[]> => {
      const text = 'select action from audit_events where target = $1 order by occurred_at, ctid';
      return (await deployment.sql.query(text, [id])).rows.map(({ action }) => String(action));
    },
    /** Delivers until no event is left. */
    deliver: () => deliverAll(deployment, map),
  };
};

/** The id of the event about this decision. */
export const eventOf = ({ receipt_id }: Readonly<Record<string, unknown>>): string =>
  `evt_${String(receipt_id).slice(4)}`;

const deliverAll = async (deployment: Deployment<InnerNode>, map: string): Promise<void> => {
  const logger = {
    warn: (fields: unknown) => {
      throw new Error(JSON.stringify(fields));
    },
  };
  const config = readConfig({ SVC_OUTBOUND_MAP: map });
  const deps = openDeliverer(deployment.process.service, config, logger, new Registry());
  if (deps === null) throw new Error('no webhooks');
  do await deliverDue(deps, new AbortController().signal);
  while ((await deployment.sql.query('select from event_outbox limit 1')).rowCount);
  await deliverDue(deps, new AbortController().signal);
};
