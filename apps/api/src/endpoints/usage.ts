/** Usage, statistics and the public metrics (interface §Usage, audit, metrics; §DecisionStats). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type Counts,
  type DecisionStats,
  getDecisionStats,
  getUsage,
  type Metrics,
  metricsSource,
  type PrincipalStats,
  type ServiceDeps,
  type ServiceIdentity,
  type Usage,
  type UsageOfDay,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

/** The caching times of this node and of a cache on the way add up to 10 s at most. */
const METRICS_KEPT_SECONDS = 5;
const METRICS_HEADERS = { 'Cache-Control': `public, max-age=${METRICS_KEPT_SECONDS}` };

type MetricsSource = ReturnType<typeof metricsSource>;

export const metricsKept = (deps: ServiceDeps): MetricsSource =>
  metricsSource(deps, METRICS_KEPT_SECONDS * 1000);

export const usageEndpoints = (deps: ServiceDeps, metricsOf: MetricsSource): HandlersOf<'usage'> => ({
  getUsage: async ({ caller, query }) => {
    const usage = await getUsage(deps, caller, query);
    return { status: 200, body: presentUsage(usage, caller.class === 'org') };
  },

  getDecisionStats: async ({ caller, query }) => {
    const stats = await getDecisionStats(deps, caller, query);
    return { status: 200, body: presentDecisionStats(stats) };
  },

  getMetrics: async ({ query }) => {
    const metrics = await metricsOf(query.days);
    return { status: 200, body: presentMetrics(metrics, deps.identity), headers: METRICS_HEADERS };
  },
});

type UsageBody = Body<Routes['getUsage'], 200>;
type StatsBody = Body<Routes['getDecisionStats'], 200>;
type MetricsBody = Body<Routes['getMetrics'], 200>;

/** `rps` is for org keys, whose org can have several relying parties. */
const presentUsage = (usage: Usage, isOrgKey: boolean): UsageBody => {
  const { relyingParties, principal, keyId, totals, days } = usage;
  const rp = relyingParties?.length === 1 ? relyingParties[0] : undefined;
  return {
    ...presentRange(usage),
    ...(rp === undefined ? {} : { rp }),
    ...(principal === null ? {} : { principal }),
    ...(isOrgKey && relyingParties !== null ? { rps: [...relyingParties] } : {}),
    ...(keyId === null ? {} : { key_id: keyId }),
    totals: presentCounts(totals),
    days: days.map(presentDay),
  };
};

const UNKNOWN_KEY = 'unknown';

const presentDay = ({ day, reasons, keys, ...counts }: UsageOfDay): UsageBody['days'][number] => ({
  day,
  ...presentCounts(counts),
  reasons: Object.fromEntries(reasons),
  ...(keys === undefined
    ? {}
    : { keys: Object.fromEntries([...keys].map(([id, of]) => [id ?? UNKNOWN_KEY, presentCounts(of)])) }),
});

export const presentDecisionStats = (stats: DecisionStats): StatsBody => {
  const { relyingParties, totals, principals } = stats;
  return {
    ...presentRange(stats),
    ...(relyingParties === null ? {} : { rps: [...relyingParties] }),
    totals: { ...presentCounts(totals), allow_with_outcome: totals.allowWithOutcome },
    principals: principals.map(presentPrincipalStats),
  };
};

const presentPrincipalStats = (stats: PrincipalStats): StatsBody['principals'][number] => ({
  principal: stats.principal,
  ...presentCounts(stats),
  reasons: Object.fromEntries(stats.reasons),
  outcomes: Object.fromEntries(stats.outcomes),
  losses: Object.fromEntries(stats.losses),
  allow_with_outcome: stats.allowWithOutcome,
});

const presentMetrics = (metrics: Metrics, { did, env }: ServiceIdentity): MetricsBody => {
  const { tenants, verifies, transparency } = metrics;
  const { principals, relyingParties, organizations, named, apart } = tenants;
  return {
    as_of: formatTimestamp(metrics.asOfMs),
    service_did: did,
    env,
    principals: {
      verified: principals.verified,
      hosted_verified: principals.hostedVerified,
      hosted_unverified: principals.hostedUnverified,
      managed: principals.managed,
    },
    relying_parties: relyingParties,
    organizations,
    receipts_total: metrics.receiptsTotal,
    verifies: {
      window_days: verifies.perDay.length,
      ...presentRange(verifies),
      ...presentCounts(verifies),
      per_day: verifies.perDay.map(({ day, ...counts }) => ({ day, ...presentCounts(counts) })),
    },
    transparency: transparency === null ? {} : presentTransparency(transparency),
    named_principals: named.map((one) => ({ did: one.did, domain: one.domain, kind: one.kind })),
    self_test: {
      principals: apart.principals,
      relying_parties: apart.relyingParties,
      organizations: apart.organizations,
    },
  };
};

const presentTransparency = ({
  latest,
  checkpoints,
}: NonNullable<Metrics['transparency']>): MetricsBody['transparency'] => ({
  latest_day: latest.day,
  latest_root: latest.root,
  latest_tree_size: latest.treeSize,
  checkpoints,
});

const presentRange = ({ sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number }) => ({
  since: formatTimestamp(sinceMs),
  until: formatTimestamp(untilMs),
});

const presentCounts = ({ verifies, allow, deny }: Counts) => ({ verifies, allow, deny });
