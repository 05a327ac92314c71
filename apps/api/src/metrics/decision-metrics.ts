/** Decisions by outcome, for the operator. Counted when the answer is known to be stored. */
import type { VerifyObserver } from '@svc/service';
import { Counter, type Registry } from 'prom-client';

export const createDecisionMetrics = (registry: Registry): Required<VerifyObserver> => {
  const decisions = new Counter({
    name: 'svc_decisions_total',
    help: 'Stored decisions by decision and reason.',
    labelNames: ['decision', 'reason'],
    registers: [registry],
  });
  const replays = new Counter({
    name: 'svc_idempotent_replays_total',
    help: 'Stored Receipts answered again under an Idempotency-Key.',
    registers: [registry],
  });
  const withoutPlan = new Counter({
    name: 'svc_checks_without_plan_total',
    help: 'Production checks that no plan covers: refused, or stored and logged.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    onAnswer: ({ decision, reason, replayed, isAskerPaused }) => {
      // A relying party that paused itself is not a fault that the operator should be alerted of.
      const isForPause = isAskerPaused && reason === 'SERVICE_UNAVAILABLE';
      if (replayed) replays.inc();
      else decisions.inc({ decision, reason: isForPause ? 'PAUSED' : (reason ?? '') });
    },
    onWithoutPlan: (outcome) => withoutPlan.inc({ outcome }),
  };
};
