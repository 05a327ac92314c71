/** Grants with budgets, requests against them, and their outcomes. */
import { type Action, type Capability, type Period, periodStartMs } from '@svc/protocol';
import { apiCall, purchase } from '@svc/sdk-principal';
import { signProof } from '@svc/sdk-principal/agent';
import { type Answer, type HeldGrant, receiptOf, type Tenants } from './tenants.ts';

export const PURCHASE = { maxAmountMinor: 1_000, currency: 'USD' } as const;
const URL_CALLED = 'https://shop.example/orders';

export const issueBudget = (
  { principal, agent }: Tenants,
  ...capabilities: readonly Capability[]
): Promise<HeldGrant> => principal.grants.issue({ agent: agent.did, capabilities });

export const buy = (amount: number): Action => ({
  type: 'commerce:purchase',
  resource: 'order/1',
  amount,
  currency: 'USD',
});
export const CALL: Action = { type: 'api:call', method: 'POST', resource: URL_CALLED };

export const usesOf = (maxUses: number): Capability => apiCall({ methods: ['POST'], maxUses });
export const totalOf = (maxTotalMinor: number): Capability => purchase({ ...PURCHASE, maxTotalMinor });
export const perPeriodOf = (maxPerPeriodMinor: number, period: Period): Capability =>
  purchase({ ...PURCHASE, maxPerPeriodMinor, period });

/** A `/verify` body with an unused Proof. */
export const bodyFor = async (
  { agent, rpDid }: Pick<Tenants, 'agent' | 'rpDid'>,
  { grant, grantId }: HeldGrant,
  action: Action,
) => ({
  grant,
  proof: await signProof({ agent, grantId, audience: rpDid, method: 'POST', url: URL_CALLED, action }),
  action,
});

/** Number of answers of each kind: `ALLOW`, a reason, or the status of an answer without a Receipt. */
export const countAnswers = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const receipt = answer.status === 200 ? receiptOf(answer) : null;
    const kind = receipt === null ? String(answer.status) : (receipt.reason ?? receipt.decision);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

/** Waits until at least `ms` of the present window is left, so that it does not end during a test. */
export const awayFromTheEndOf = async (period: Period, ms: number): Promise<void> => {
  const start = periodStartMs(period, Date.now() + ms);
  const waitMs = start - Date.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
};
