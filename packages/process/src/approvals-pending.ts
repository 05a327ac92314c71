/** A gauge of the requests for approval that are pending in storage, whichever node accepted them. */
import { type ApprovalRepository, withinMs } from '@svc/service';
import type { Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';
import { gauge } from './gauge.ts';

export const createPendingApprovals = (
  registry: Registry,
  approvals: Pick<ApprovalRepository, 'countPending'>,
): void => {
  const count = () => withinMs(HEALTH_ANSWER_MS, approvals.countPending(), () => -1).catch(() => -1);
  gauge(registry, 'svc_approvals_pending', {
    help: 'Requests for approval that wait for their Principals, 100,000 at most; -1: storage does not answer.',
    read: count,
  });
};
