/** The jobs of a deployment and their intervals. */
import { type PackDaysDeps, packDays } from '@svc/cold-ledger';
import {
  checkContent,
  clearOldActions,
  closeDays,
  collectEvidence,
  completePauses,
  completeRevocations,
  drawSweepPlace,
  expireClaims,
  type Forgotten,
  forgetEvents,
  forgetIdempotencyKeys,
  forgetSpentProofs,
  reSignStatusLists,
  reverifyDomains,
  rollUpUsage,
  type ServiceDeps,
  type SweepPlace,
  type Swept,
  tidyApprovals,
  tidyConformanceRuns,
} from '@svc/service';
import type { Job } from './loop.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** `packing`: null if no days are packed. */
export const maintenanceJobs = (
  service: ServiceDeps,
  packing: PackDaysDeps | null = null,
): readonly Job[] => [
  {
    name: 'close-days',
    everyMs: 5 * MINUTE,
    run: async (stop) => ({ closed: (await closeDays(service, stop)).closed.length }),
  },
  {
    name: 'check-content',
    everyMs: 10 * MINUTE,
    evenHeld: true,
    run: async (stop) => ({ ...(await checkContent(service, stop)) }),
  },
  {
    name: 'reverify-domains',
    everyMs: 5 * MINUTE,
    evenSettling: true,
    alarmingItems: ['proven', 'unasked', 'astray', 'lost', 'failed'],
    run: async (stop) => ({ ...(await reverifyDomains(service, stop)) }),
  },
  {
    name: 'collect-evidence',
    everyMs: 10 * MINUTE,
    run: async (stop) => ({ ...(await collectEvidence(service, stop)) }),
  },
  {
    name: 'expire-claims',
    everyMs: 60 * MINUTE,
    run: async (stop) => ({ ...(await expireClaims(service, stop)) }),
  },
  {
    name: 'complete-revocations',
    everyMs: 15 * SECOND,
    evenHeld: true,
    run: async (stop) => {
      // Run side by side, so that a failure of one does not prevent the other.
      const [revocations, pauses] = await Promise.allSettled([
        completeRevocations(service, stop),
        completePauses(service, stop),
      ]);
      if (revocations.status === 'rejected') throw revocations.reason;
      if (pauses.status === 'rejected') throw pauses.reason;
      return { ...revocations.value, pauses: pauses.value };
    },
  },
  {
    name: 'forget-spent-proofs',
    everyMs: 5 * MINUTE,
    alarmingItems: ['left'],
    run: onward(service, 'spent_proofs', (stop, place) => forgetSpentProofs(service, stop, place)),
  },
  {
    name: 'forget-idempotency-keys',
    everyMs: 5 * MINUTE,
    alarmingItems: ['left'],
    run: onward(service, 'idempotency_keys', (stop, place) => forgetIdempotencyKeys(service, stop, place)),
  },
  {
    name: 'forget-events',
    everyMs: 60 * MINUTE,
    alarmingItems: ['left'],
    run: async (stop) => ({ ...(await forgetEvents(service, stop)) }),
  },
  {
    name: 'clear-old-actions',
    everyMs: 60 * MINUTE,
    alarmingItems: ['left'],
    run: async (stop) => ({ ...(await clearOldActions(service, stop)) }),
  },
  {
    name: 'roll-up-usage',
    everyMs: MINUTE,
    run: async (stop) => ({ ...(await rollUpUsage(service, stop)) }),
  },
  {
    name: 're-sign-status-lists',
    everyMs: 60 * MINUTE,
    run: async (stop) => ({ ...(await reSignStatusLists(service, stop)) }),
  },
  {
    name: 'tidy-conformance-runs',
    everyMs: MINUTE,
    run: async (stop) => ({ ...(await tidyConformanceRuns(service, stop)) }),
  },
  {
    name: 'tidy-approvals',
    everyMs: MINUTE,
    run: async (stop) => ({ ...(await tidyApprovals(service, stop)) }),
  },
  {
    name: 'receipt-partitions',
    everyMs: 60 * MINUTE,
    evenHeld: true,
    run: async () => {
      await service.store.ensureReceiptPartitions();
      return {};
    },
  },
  ...(packing === null ? [] : [packDaysJob(packing)]),
];

/** A sweep that may begin anywhere. Each round continues where the last one ended. */
const onward = (
  service: ServiceDeps,
  table: Swept,
  sweep: (stop: AbortSignal, place: SweepPlace) => Promise<Forgotten>,
): Job['run'] => {
  let place: SweepPlace | null = null;
  return async (stop) => {
    place ??= await drawSweepPlace(service, table);
    return { ...(await sweep(stop, place)) };
  };
};

/** Last, since it takes only days that the other jobs have finished with. */
const packDaysJob = (packing: PackDaysDeps): Job => ({
  name: 'pack-days',
  everyMs: 60 * MINUTE,
  run: async (stop) => ({ ...(await packDays(packing, stop)) }),
});
