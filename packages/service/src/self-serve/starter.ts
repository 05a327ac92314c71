/**
 * The starter of a tenant (interface §SelfServeStarter): a Grant of the sandbox Principal to a new Agent, and the
 * Agent's Proof for the tenant's relying party. The Agent's key is used once and not kept.
 */
import { findTenantFor } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest, notFound } from '../errors.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import type { Repositories } from '../ports/store.ts';
import { isManagedRelyingPartyDid } from '../principals/domain.ts';
import { agentFromSeed } from '../sandbox/agent-key.ts';
import { issueTicket, type SandboxTicket } from '../sandbox/issue.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { requireRoomForChange } from './room.ts';

const MAX_AMOUNT_MINOR = 5_000;
const AMOUNT_MINOR = 1_000;

export interface Starter extends SandboxTicket {
  /** When the Proof leaves the present window of the relying party. */
  readonly expiresAtMs: number;
}

export const issueStarterIn = async (
  deps: ServiceDeps,
  tx: Repositories,
  sandbox: Sandbox,
  { did, proofWindowSeconds }: Pick<RelyingPartyRecord, 'did' | 'proofWindowSeconds'>,
  requestId: string,
): Promise<Starter> => {
  const ticket = await issueTicket(deps, tx, sandbox, {
    agent: agentFromSeed(deps.random.bytes(32)),
    audience: did,
    maxAmountMinor: MAX_AMOUNT_MINOR,
    amountMinor: AMOUNT_MINOR,
    requestId,
  });
  return { ...ticket, expiresAtMs: ticket.proofIssuedAtMs + proofWindowSeconds * 1000 };
};

/** The relying party that self-serve created under this DID. */
export const getSelfServeRelyingParty = async (
  { store, identity }: Pick<ServiceDeps, 'store' | 'identity'>,
  did: string,
): Promise<RelyingPartyRecord> => {
  if (!isManagedRelyingPartyDid(identity, did))
    throw invalidRequest('rp_did: must be a managed relying party of this service');
  const relyingParty = await store.selfServe.findRelyingParty(did);
  if (relyingParty === null) throw notFound(`Self-serve made no relying party ${did}.`);
  return relyingParty;
};

/** `FORBIDDEN` when the tenant has reached its limit of changes without a plan. */
export const issueStarter = async (
  deps: ServiceDeps,
  sandbox: Sandbox,
  relyingParty: RelyingPartyRecord,
  requestId: string,
): Promise<Starter> => {
  await requireRoomForChange(deps, await findTenantFor(deps.store, 'rp', relyingParty));
  return deps.store.transaction((tx) => issueStarterIn(deps, tx, sandbox, relyingParty, requestId), {
    exclusiveKey: sandbox.principal,
  });
};
