/**
 * Carries out the main use of the service: a Grant, Proofs, three verifications and a revocation. Every Receipt is
 * checked offline against the service's DID document.
 */

import { verifyReceipt } from '@svc/receipts';
import { purchase } from '@svc/sdk-principal';
import { signProof } from '@svc/sdk-principal/agent';
import type { Action, Verdict } from '@svc/sdk-rp';
import type { Tenants } from './tenants.ts';

export interface Shown {
  readonly title: string;
  readonly verdict: Verdict;
  /** Result of the offline check. */
  readonly checkedOffline: boolean;
}

export interface Walkthrough {
  readonly shown: readonly Shown[];
  /** A Grant that stays valid, for commands that a person may try. */
  readonly openGrant: { readonly grant: string; readonly grantId: string };
}

const REQUEST = { method: 'POST', url: 'https://shop.example/checkout' };
const CEILING_MINOR = 50_000;

const buy = (amount: number): Action => ({
  type: 'commerce:purchase',
  resource: 'order/4711',
  amount,
  currency: 'USD',
});

export const walkThrough = async (tenants: Tenants, didDocument: unknown): Promise<Walkthrough> => {
  const grant = await issueGrant(tenants);
  const show = async (title: string, amount: number): Promise<Shown> => {
    const verdict = await verifyPurchase(tenants, grant, amount);
    return { title, verdict, checkedOffline: verifyReceipt(verdict.receipt, didDocument).ok };
  };
  const within = await show('a purchase of 427.00 USD under a Grant of 500.00', 42_700);
  const above = await show('a purchase of 900.00 USD under the same Grant', 90_000);
  await tenants.principal.grants.revoke(grant.grantId);
  const revoked = await show('427.00 USD again, after the Principal revoked the Grant', 42_700);
  return { shown: [within, above, revoked], openGrant: await issueGrant(tenants) };
};

/** The body of a `POST /verify` that has not been sent yet. */
export const freshVerifyBody = async (
  tenants: Tenants,
  openGrant: Walkthrough['openGrant'],
): Promise<string> => {
  const action = buy(42_700);
  return JSON.stringify({ grant: openGrant.grant, proof: await prove(tenants, openGrant, action), action });
};

const issueGrant = ({ principal, agent }: Tenants) =>
  principal.grants.issue({
    agent: agent.did,
    capabilities: [purchase({ maxAmountMinor: CEILING_MINOR, currency: 'USD', resources: ['order/*'] })],
    lifetimeSeconds: 86_400,
  });

const prove = (
  { agent, relyingPartyDid }: Tenants,
  { grantId }: { readonly grantId: string },
  action: Action,
) => signProof({ agent, grantId, audience: relyingPartyDid, ...REQUEST, action });

const verifyPurchase = async (
  tenants: Tenants,
  grant: Walkthrough['openGrant'],
  amount: number,
): Promise<Verdict> => {
  const action = buy(amount);
  const proof = await prove(tenants, grant, action);
  return tenants.verifier.verify({ grant: grant.grant, proof, action, request: REQUEST });
};
