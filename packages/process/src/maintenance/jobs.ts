/** The jobs of a deployment, and how often each looks for work. */
import { completeRevocations, reverifyDomains, type ServiceDeps } from '@svc/service';
import type { Job } from './loop.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const maintenanceJobs = (service: ServiceDeps): readonly Job[] => [
  {
    name: 'reverify-domains',
    everyMs: 5 * MINUTE,
    run: async (stop) => ({ ...(await reverifyDomains(service, stop)) }),
  },
  {
    name: 'complete-revocations',
    everyMs: 15 * SECOND,
    run: async (stop) => ({ ...(await completeRevocations(service, stop)) }),
  },
  {
    name: 'receipt-partitions',
    everyMs: 60 * MINUTE,
    run: async () => {
      await service.store.ensureReceiptPartitions();
      return {};
    },
  },
];
