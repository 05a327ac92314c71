/**
 * Results of calls about approvals, for the operator: how many approvals are requested, how people answer, and which
 * calls the limits refuse.
 */
import { ServiceError } from '@svc/service';
import { Counter, Gauge, type Registry } from 'prom-client';

const OUTCOMES = [
  'requested',
  'limited',
  'refused',
  'approved',
  'denied',
  'cancelled',
  'not_approved',
] as const;
type Outcome = (typeof OUTCOMES)[number];

export interface ApprovalMetrics {
  /** Counts `done` if the work succeeds, `failed` if the service refuses it, and `limited` if a limit refuses it. */
  count<T>(done: Outcome, failed: Outcome | null, work: Promise<T>): Promise<T>;
  /** Notes that a call begins to wait; returns the function to call once the wait has ended. */
  wait(): () => void;
}

export const createApprovalMetrics = (registry: Registry): ApprovalMetrics => {
  const calls = new Counter({
    name: 'svc_approvals_total',
    help: 'Calls about approvals by what came of them; a repeat counts again.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const waiting = new Gauge({
    name: 'svc_approval_waits',
    help: 'Calls that wait for an approval on this node.',
    registers: [registry],
  });
  for (const outcome of OUTCOMES) calls.labels({ outcome }).inc(0);
  return {
    async count(done, failed, work) {
      try {
        const result = await work;
        calls.inc({ outcome: done });
        return result;
      } catch (error) {
        const outcome = error instanceof ServiceError && error.code === 'RATE_LIMITED' ? 'limited' : failed;
        if (outcome !== null && error instanceof ServiceError) calls.inc({ outcome });
        throw error;
      }
    },
    wait() {
      waiting.inc();
      return () => waiting.dec();
    },
  };
};
