/** One verification by the real engine, counted. Everything that decides goes through here. */
import { hash } from 'node:crypto';
import type { VerifyRequest } from '@svc/protocol';
import type { Idempotency, RpCaller, Verifier, VerifyAnswer } from '@svc/service';
import type { DecisionMetrics } from '../metrics/decision-metrics.ts';

export type Decide = (
  caller: RpCaller,
  request: VerifyRequest,
  idempotency?: Idempotency | null,
) => Promise<VerifyAnswer>;

export const decideBy =
  (verifier: Pick<Verifier, 'verify'>, metrics: Pick<DecisionMetrics, 'count'>): Decide =>
  async (caller, request, idempotency = null) => {
    const answer = await verifier.verify(caller, request, idempotency);
    metrics.count(answer);
    return answer;
  };

/** Null where the request carries no `Idempotency-Key`. */
export const idempotencyOf = (key: string | undefined, bodyText: string | null): Idempotency | null =>
  key === undefined ? null : { key, bodyHash: hash('sha256', bodyText ?? '', 'hex') };
