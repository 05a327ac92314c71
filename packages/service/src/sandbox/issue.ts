/**
 * What the sandbox Principal and an Agent sign for one purchase (protocol §2, §3). A Grant names the one relying party it
 * is for: an ALLOW of the sandbox means nothing anywhere else.
 */
import {
  type Capability,
  type DidWeb,
  encodeBase64url,
  formatSeconds,
  GRANT_CONTEXT,
  GRANT_TYP,
  GRANT_TYPE,
  type GrantId,
  type JsonObject,
  PROOF_TYP,
  type PurchaseAction,
  signCompactJws,
} from '@svc/protocol';
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { allocateGrantIn, type GrantAllocation } from '../grants/allocate-grant.ts';
import type { Repositories } from '../ports/store.ts';
import type { AgentKey } from './agent-key.ts';
import type { Sandbox } from './sandbox.ts';

export const SANDBOX_CURRENCY = 'USD';
export const SANDBOX_GRANT_SECONDS = 3_600;
/** The request that every Proof of the sandbox is bound to. */
export const SANDBOX_REQUEST = { method: 'POST', url: 'https://shop.example/checkout' } as const;

export const sandboxAuthority = (maxAmountMinor: number) =>
  ({
    action: 'commerce:purchase',
    constraints: { maxAmount: maxAmountMinor, currency: SANDBOX_CURRENCY },
    resources: ['sandbox/**'],
  }) satisfies Capability;

export interface SandboxOrder {
  readonly agent: AgentKey;
  /** The one relying party that may verify it. */
  readonly audience: DidWeb;
  readonly maxAmountMinor: number;
  /** Of the purchase. */
  readonly amountMinor: number;
  readonly requestId: string;
}

/** Good for one ALLOW. */
export interface SandboxTicket {
  readonly grant: string;
  readonly proof: string;
  readonly grantId: GrantId;
  readonly action: PurchaseAction;
  /** `validUntil` as signed. */
  readonly validUntil: string;
  readonly proofIssuedAtMs: number;
}

export const issueTicket = async (
  deps: ServiceDeps,
  tx: Repositories,
  sandbox: Sandbox,
  { agent, audience, maxAmountMinor, amountMinor, requestId }: SandboxOrder,
): Promise<SandboxTicket> => {
  const allocation = await allocateGrantIn(deps, tx, {
    actor: SYSTEM,
    principal: sandbox.principal,
    agent: agent.did,
    requestId,
  });
  const nowMs = Math.floor(deps.clock.nowMs() / 1000) * 1000;
  const validUntil = formatSeconds(nowMs + SANDBOX_GRANT_SECONDS * 1000);
  const grantId = allocation.grant.id;
  const action: PurchaseAction = {
    type: 'commerce:purchase',
    resource: 'sandbox/order-1',
    amount: amountMinor,
    currency: SANDBOX_CURRENCY,
  };
  const grant = await signCompactJws(
    sandbox.signer,
    { typ: GRANT_TYP },
    grantPayload(allocation, audience, maxAmountMinor, { validFrom: formatSeconds(nowMs), validUntil }),
  );
  const proof = await signCompactJws(
    agent.signer,
    { typ: PROOF_TYP },
    {
      iss: agent.did,
      aud: audience,
      grant_id: grantId,
      htm: SANDBOX_REQUEST.method,
      htu: SANDBOX_REQUEST.url,
      action: { ...action },
      iat: nowMs / 1000,
      jti: encodeBase64url(deps.random.bytes(24)),
    },
  );
  return { grant, proof, grantId, action, validUntil, proofIssuedAtMs: nowMs };
};

const grantPayload = (
  { grant, credentialStatus }: GrantAllocation,
  audience: DidWeb,
  maxAmountMinor: number,
  validity: { readonly validFrom: string; readonly validUntil: string },
): JsonObject => ({
  '@context': [...GRANT_CONTEXT],
  id: grant.id,
  type: [...GRANT_TYPE],
  issuer: grant.principal,
  ...validity,
  credentialStatus: { ...credentialStatus },
  credentialSubject: {
    id: grant.agent,
    audience: [audience],
    capabilities: [sandboxAuthority(maxAmountMinor)],
  },
});
