/**
 * Balances for the vectors, computed independently of the engine: keys with the general RFC 8785 serialiser,
 * `remaining` with plain sums.
 */
import { type JsonObject, jcs, portableCrypto } from '@svc/protocol';
import { GRANT_ID, type Members, type Scene } from './scene.ts';

export interface Spending {
  readonly total?: number;
  readonly inPeriod?: number;
  readonly periodStart?: string;
  readonly uses?: number;
}

export const keyOf = (capability: Members): string =>
  `sha256:${portableCrypto.sha256Hex(jcs(JSON.parse(JSON.stringify(capability)) as JsonObject))}`;

const balanceOf = (capability: Members, spending: Spending): Members => {
  const { maxTotal, maxPerPeriod, maxUses } = capability.constraints as Record<string, number | undefined>;
  const { total = 0, inPeriod = 0, periodStart = null, uses = 1 } = spending;
  const left = (limit: number | undefined, spent: number) =>
    limit === undefined ? null : Math.max(0, limit - spent);
  return {
    key: keyOf(capability),
    spent_total: total,
    spent_in_period: inPeriod,
    period_start: periodStart,
    uses_spent: uses,
    limits: { total: maxTotal ?? null, per_period: maxPerPeriod ?? null, uses: maxUses ?? null },
    remaining: {
      total: left(maxTotal, total),
      per_period: left(maxPerPeriod, inPeriod),
      uses: left(maxUses, uses),
    },
    updated_at: '2026-11-20T09:00:00.000Z',
  };
};

export const neverConsumed = (): Members => ({ grant_id: GRANT_ID, version: 0, capabilities: [] });

/** Balances in which something of each of these Capabilities has been consumed. */
export const consumed = (...list: readonly (readonly [Members, Spending])[]): Members => {
  const capabilities = list
    .map(([capability, spending]) => balanceOf(capability, spending))
    .sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1));
  return { grant_id: GRANT_ID, version: 7, capabilities };
};

/** Sets the profile `svc-base-v2`, these Capabilities and these balances. */
export const underV2 =
  (capabilities: readonly Members[], balances: Members = neverConsumed()) =>
  (s: Scene): void => {
    s.rp.profile = 'svc-base-v2';
    s.grant.subject.capabilities = capabilities;
    s.balances = balances;
  };
