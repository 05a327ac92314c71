/** Denials that can be approved, requests for their approval, and the Grants that approve them. */
import { randomBytes } from 'node:crypto';
import { type Capability, encodeUlid } from '@svc/protocol';
import { signProof } from '@svc/sdk-principal/agent';
import type { ContractAnswer } from './contract-call.ts';
import type { Deployment } from './deployment.ts';
import { type HeldGrant, type Receipt, receiptOf, type Tenants } from './tenants.ts';

/** Above the limit of 1000 in `issueGrant`. */
export const DEAR = {
  type: 'commerce:purchase',
  resource: 'order/7',
  amount: 90_000,
  currency: 'USD',
} as const;

type Action = { readonly type: string; readonly resource: string; readonly [name: string]: unknown };

/** Proofs by Receipt id. */
const proofs = new Map<string, string>();

/** The Proof of a denial that this file made; for any other Receipt a text that is not a Proof. */
export const proofOf = (receiptId: string): string => proofs.get(receiptId) ?? 'a.b.c';

export const verifyAction = async (
  { call }: Deployment,
  { agent, rpDid, rpKey }: Tenants,
  { grant, grantId }: HeldGrant,
  action: Action = DEAR,
): Promise<Receipt> => {
  const isCall = action.type === 'api:call';
  const proof = await signProof({
    agent,
    grantId,
    audience: rpDid,
    method: isCall ? String(action.method) : 'POST',
    url: isCall ? action.resource : 'https://shop.example/orders',
    action: action as never,
  });
  const receipt = receiptOf(await call('POST', '/verify', { key: rpKey, body: { grant, proof, action } }));
  proofs.set(receipt.receipt_id, proof);
  return receipt;
};

export const askAbout = ({ call }: Deployment, { rpKey }: Tenants, receiptId: string, more: object = {}) =>
  call('POST', '/access/v1/requests', {
    key: rpKey,
    body: { receipt_id: receiptId, proof: proofOf(receiptId), ...more },
  });

export interface Asked {
  readonly id: string;
  readonly capability: Capability;
}

/** Makes a request that is pending. */
export const ask = async (
  deployment: Deployment,
  tenants: Tenants,
  held: HeldGrant,
  action: Action = DEAR,
): Promise<Asked> => {
  const { receipt_id } = await verifyAction(deployment, tenants, held, action);
  return askedOf(await askAbout(deployment, tenants, receipt_id));
};

export const askedOf = ({ status, text, json }: ContractAnswer): Asked => {
  if (status !== 202) throw new Error(`answered ${status}: ${text}`);
  return { id: (json.task as { id: string }).id, capability: json.capability as unknown as Capability };
};

export const statusOf = ({ json }: ContractAnswer) => (json.task as { status: string } | undefined)?.status;

/** Signs the Grant that was asked for, with the given members replaced. */
export const signApproval = (
  { principal, agent, rpDid }: Tenants,
  capability: Capability,
  change: Partial<Parameters<Tenants['principal']['grants']['issue']>[0]> = {},
): Promise<HeldGrant> =>
  principal.grants.issue({
    agent: agent.did,
    audience: [rpDid],
    capabilities: [capability],
    lifetimeSeconds: 600,
    ...change,
  });

export const approve = (
  { call }: Deployment,
  { principalDid, principalKey: key }: Tenants,
  id: string,
  grant: string,
) => call('POST', `/principals/${principalDid}/access-requests/${id}/approve`, { key, body: { grant } });

export const reject = (
  { call }: Deployment,
  { principalDid, principalKey: key }: Tenants,
  id: string,
  body: object = {},
) => call('POST', `/principals/${principalDid}/access-requests/${id}/reject`, { key, body });

export const read = ({ call }: Deployment, { rpKey: key }: Tenants, id: string, query = '') =>
  call('GET', `/access/v1/requests/${id}${query}`, { key });

/** Inserts a copy of the request `like` that has just expired. */
export const insertDue = async ({ sql }: Deployment, like: string): Promise<string> => {
  const id = `arq_${encodeUlid(Date.now(), randomBytes(10))}`;
  await sql.query(
    `insert into approval_requests (request_id, relying_party, principal, grant_id, agent, action, action_hash, requested_at, expires_at)
     select $1, relying_party, principal, grant_id, agent, action, $1, requested_at,
       greatest(now(), requested_at + interval '1 millisecond')
     from approval_requests where request_id = $2`,
    [id, like],
  );
  return id;
};
