/**
 * Signs the Grant of the sandbox Principal and the Proof of an Agent for one purchase (protocol §2, §3). A Grant names
 * the one relying party that it is for, so an ALLOW of the sandbox means nothing anywhere else.
 */
import {
  type Action,
  type Capability,
  type DidKey,
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

const SANDBOX_CURRENCY = 'USD';
export const SANDBOX_GRANT_SECONDS = 3_600;
/** The HTTP request that every Proof of the sandbox is bound to. */
export const SANDBOX_REQUEST = { method: 'POST', url: 'https://shop.example/checkout' } as const;

export const sandboxAuthority = (maxAmountMinor: number) =>
  ({
    action: 'commerce:purchase',
    constraints: { maxAmount: maxAmountMinor, currency: SANDBOX_CURRENCY },
    resources: ['sandbox/**'],
  }) satisfies Capability;

/** A Grant that is to be signed. */
export interface SandboxGrantOrder {
  readonly agent: DidKey;
  /** The one relying party that may verify it. */
  readonly audience: DidWeb;
  readonly capability: Capability;
  readonly lifetimeSeconds: number;
  readonly requestId: string;
}

export interface SandboxGrant {
  readonly grant: string;
  readonly grantId: GrantId;
  /** `validUntil` as signed. */
  readonly validUntil: string;
}

export interface SandboxOrder {
  readonly agent: AgentKey;
  readonly audience: DidWeb;
  readonly maxAmountMinor: number;
  /** Amount of the purchase. */
  readonly amountMinor: number;
  readonly requestId: string;
}

/** A Grant and a Proof, good for one ALLOW. */
export interface SandboxTicket extends SandboxGrant {
  readonly proof: string;
  readonly action: PurchaseAction;
  readonly proofIssuedAtMs: number;
}

export const issueTicket = async (
  deps: ServiceDeps,
  tx: Repositories,
  sandbox: Sandbox,
  { agent, audience, maxAmountMinor, amountMinor, requestId }: SandboxOrder,
): Promise<SandboxTicket> => {
  const issued = await issueSandboxGrant(deps, tx, sandbox, {
    agent: agent.did,
    audience,
    capability: sandboxAuthority(maxAmountMinor),
    lifetimeSeconds: SANDBOX_GRANT_SECONDS,
    requestId,
  });
  const action: PurchaseAction = {
    type: 'commerce:purchase',
    resource: 'sandbox/order-1',
    amount: amountMinor,
    currency: SANDBOX_CURRENCY,
  };
  return { ...issued, action, ...(await signSandboxProof(deps, agent, audience, issued.grantId, action)) };
};

export const issueSandboxGrant = async (
  deps: ServiceDeps,
  tx: Repositories,
  { principal, signer }: Sandbox,
  { agent, audience, capability, lifetimeSeconds, requestId }: SandboxGrantOrder,
): Promise<SandboxGrant> => {
  const allocation = await allocateGrantIn(deps, tx, { actor: SYSTEM, principal, agent, requestId });
  const nowMs = wholeSecond(deps);
  const validUntil = formatSeconds(nowMs + lifetimeSeconds * 1000);
  const validity = { validFrom: formatSeconds(nowMs), validUntil };
  const payload = grantPayload(allocation, audience, capability, validity);
  const grant = await signCompactJws(signer, { typ: GRANT_TYP }, payload);
  return { grant, grantId: allocation.grant.id, validUntil };
};

export const signSandboxProof = async (
  deps: ServiceDeps,
  agent: AgentKey,
  audience: DidWeb,
  grantId: GrantId,
  action: Action,
): Promise<Pick<SandboxTicket, 'proof' | 'proofIssuedAtMs'>> => {
  const nowMs = wholeSecond(deps);
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
  return { proof, proofIssuedAtMs: nowMs };
};

const wholeSecond = ({ clock }: Pick<ServiceDeps, 'clock'>): number =>
  Math.floor(clock.nowMs() / 1000) * 1000;

const grantPayload = (
  { grant, credentialStatus }: GrantAllocation,
  audience: DidWeb,
  capability: Capability,
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
    capabilities: [{ ...capability } as JsonObject],
  },
});
