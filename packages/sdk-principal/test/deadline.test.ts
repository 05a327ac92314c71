/** A call that sends several requests has one deadline for all of them. */

import { deniedRequest, REQUEST_ID } from '@svc/testkit/sdk/denied-request';
import { afterEach, expect, it, vi } from 'vitest';
import { signProof } from '../src/agent.ts';
import {
  type AccessRequest,
  type CallOptions,
  createPrincipalClient,
  type PrincipalClient,
  type SvcError,
} from '../src/index.ts';
import { agent, GRANT_ID, ISSUER, NOW_MS, SHOP, signer } from './fixtures.ts';

afterEach(() => void vi.useRealTimers());

const url = 'https://shop.example/orders';
const action = { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' } as const;
const signed = { agent, grantId: GRANT_ID, audience: SHOP, method: 'POST', url, action, now: () => NOW_MS };
const denied = await deniedRequest({
  ...{ principal: ISSUER, relyingParty: SHOP, agent: agent.did, grantId: GRANT_ID, action, url },
  proof: await signProof(signed),
  nowMs: NOW_MS,
});
const request: AccessRequest = denied.request;
const receiptId = denied.receipt.receipt_id;
const me = {
  subject: ISSUER,
  role: 'principal',
  key_id: '3fa1c09be742',
  service_did: 'did:web:svc.example',
  env: 'development',
};

/** The requests sent to a service that answers after 400 ms, and the end of a call whose client has 1,000 ms. */
async function ended(
  callOf: (client: PrincipalClient, options: CallOptions) => Promise<unknown>,
  options = {},
) {
  vi.useFakeTimers();
  const beganAtMs = performance.now();
  const sent: string[] = [];
  const fetch = async (address: string | URL | Request): Promise<Response> => {
    const { pathname } = new URL(String(address));
    sent.push(pathname);
    if (pathname !== '/me' && !pathname.includes('/decisions/drc_')) return new Promise(() => {});
    await new Promise((resolve) => setTimeout(resolve, 400));
    return Response.json(pathname === '/me' ? me : { receipt: denied.receipt, outcomes: [] });
  };
  const baseUrl = 'https://svc.example';
  const now = () => NOW_MS;
  const client = createPrincipalClient({ baseUrl, apiKey: 'key', signer, timeoutMs: 1_000, fetch, now });
  const end = callOf(client, options).then(
    () => ({ kind: 'answered', afterMs: performance.now() - beganAtMs }),
    ({ kind }: SvcError) => ({ kind, afterMs: performance.now() - beganAtMs }),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  return { ...(await end), sent };
}

const READS: [string, Parameters<typeof ended>[0]][] = [
  ['principals.get', (client, options) => client.principals.get(options)],
  ['decisions.page', (client, options) => client.decisions.page({}, options)],
  ['decisions.stats', (client, options) => client.decisions.stats({}, options)],
  ['approvals.page', (client, options) => client.approvals.page({}, options)],
  ['approvals.get', (client, options) => client.approvals.get(REQUEST_ID, options)],
  ['approvals.check', (client, options) => client.approvals.check(request, options)],
  ['approvals.approve', (client, options) => client.approvals.approve(request, options)],
];

it.each(READS)(
  '%s ends at the deadline of the client, although it waits for several answers',
  async (_, callOf) => {
    const { kind, afterMs, sent } = await ended(callOf);
    expect({ kind, afterMs }).toEqual({ kind: 'timeout', afterMs: 1_000 });
    expect(sent.length).toBeGreaterThan(1);
  },
);

it.each([
  ['principals.verify', (client, options) => client.principals.verify(options)],
  ['approvals.reject', (client, options) => client.approvals.reject(REQUEST_ID, options)],
] satisfies typeof READS)('%s ends at the deadline of the client as outcome-unknown', async (_, callOf) => {
  const { kind, afterMs } = await ended(callOf);
  expect({ kind, afterMs }).toEqual({ kind: 'outcome-unknown', afterMs: 1_000 });
});

it.each([
  ...READS,
  ['decisions.get', (client, options) => client.decisions.get(receiptId, options)],
] satisfies typeof READS)('%s ends at its own timeoutMs, and sends nothing after it', async (_, callOf) => {
  const { kind, afterMs, sent } = await ended(callOf, { timeoutMs: 300 });
  expect({ kind, afterMs, sent }).toEqual({ kind: 'timeout', afterMs: 300, sent: ['/me'] });
});
