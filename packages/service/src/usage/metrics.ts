/**
 * The public numbers of the service (interface §Metrics): only aggregates, without self-test tenants and the sandbox.
 * One cached summary of the whole ledger serves every window, so a call costs nothing.
 */
import { DAY_MS } from '@svc/codec';
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import type { ApartTenants, DayCount, TenantSummary } from '../ports/usage.ts';
import { sandboxDids } from '../principals/domain.ts';
import { type Counts, getOrMake, Tally } from './counts.ts';
import { daysOf, type Range, startOfDay } from './range.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'identity' | 'selfTestOrgs'>;

export interface MetricsWindow extends Range, Counts {
  readonly perDay: readonly (Counts & { readonly day: Day })[];
}

export interface Metrics {
  readonly asOfMs: number;
  readonly tenants: TenantSummary;
  readonly receiptsTotal: number;
  readonly verifies: MetricsWindow;
  /** Null before the first day is closed. */
  readonly transparency: { readonly latest: CheckpointRecord; readonly checkpoints: number } | null;
}

/**
 * A function that returns the numbers of the last `days` UTC days, today included, at most `maxAgeMs` old. Calls within
 * `maxAgeMs` share one summary, so a call waits for at most one. It rejects when storage cannot be asked; the next call
 * tries again.
 */
export const metricsSource = (deps: Deps, maxAgeMs: number): ((days: number) => Promise<Metrics>) => {
  let latest: { readonly fromMs: number; readonly summary: Promise<Summary> } | null = null;
  return async (days) => {
    const nowMs = deps.clock.nowMs();
    const ageMs = latest === null ? maxAgeMs : nowMs - latest.fromMs;
    // Below 0, the clock was set back.
    if (latest === null || ageMs < 0 || ageMs >= maxAgeMs) {
      const summary = summarize(deps, nowMs);
      const started = { fromMs: nowMs, summary };
      latest = started;
      summary.catch(() => {
        if (latest === started) latest = null;
      });
    }
    const { counts, ...rest } = await latest.summary;
    return { ...rest, verifies: windowOf(counts, days, rest.asOfMs) };
  };
};

interface Summary extends Omit<Metrics, 'verifies'> {
  readonly counts: ReadonlyMap<Day, Counts>;
}

const summarize = async (deps: Deps, asOfMs: number): Promise<Summary> => {
  const { store } = deps;
  const apart = apartOf(deps);
  const [[tenants, rows], latest, checkpoints] = await Promise.all([
    store.report(({ usage }) => Promise.all([usage.summarizeTenants(apart), usage.countAll(apart)])),
    store.checkpoints.findLatest(),
    store.checkpoints.count(),
  ]);
  const counts = byDay(rows);
  const receiptsTotal = [...counts.values()].reduce((total, { verifies }) => total + verifies, 0);
  return {
    asOfMs,
    tenants,
    receiptsTotal,
    counts,
    transparency: latest === null ? null : { latest, checkpoints },
  };
};

/**
 * Tenants that are left out. The sandbox's Principal and relying party belong to no org, so they are named by DID,
 * under every DID that the service has or had. They are named whether there is a sandbox now or not.
 */
const apartOf = ({ identity, selfTestOrgs }: Deps): ApartTenants => ({
  orgs: selfTestOrgs,
  subjects: [identity, ...identity.formers].flatMap(({ did }) => sandboxDids(did)),
});

const byDay = (rows: readonly DayCount[]): Map<Day, Counts> => {
  const tallies = new Map<Day, Tally>();
  for (const { day, reason, verifies } of rows)
    getOrMake(tallies, day, () => new Tally()).add(reason, verifies);
  return new Map([...tallies].map(([day, { counts }]) => [day, counts]));
};

const windowOf = (counts: ReadonlyMap<Day, Counts>, days: number, asOfMs: number): MetricsWindow => {
  const untilMs = startOfDay(asOfMs) + DAY_MS;
  const range = { sinceMs: untilMs - days * DAY_MS, untilMs };
  const perDay = daysOf(range).map((day) => {
    const { verifies = 0, allow = 0, deny = 0 } = counts.get(day) ?? {};
    return { day, verifies, allow, deny };
  });
  const sum = (name: keyof Counts) => perDay.reduce((total, one) => total + one[name], 0);
  return { ...range, verifies: sum('verifies'), allow: sum('allow'), deny: sum('deny'), perDay };
};
