/** `POST /verify`: the envelope is parsed by now; whatever is wrong inside it becomes a DENY Receipt. */
import { hash } from 'node:crypto';
import type { Routes } from '@svc/contract';
import type { Verifier } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import type { DecisionMetrics } from '../../metrics/decision-metrics.ts';

export const verify =
  (verifier: Verifier, metrics: DecisionMetrics): Handler<Routes['verify']> =>
  async ({ caller, body, bodyText, headers }) => {
    const key = headers['idempotency-key'];
    const idempotency = key === undefined ? null : { key, bodyHash: hash('sha256', bodyText ?? '', 'hex') };
    const answer = await verifier.verify(caller, body, idempotency);
    metrics.count(answer);
    const replayed = answer.replayed ? { headers: { 'Svc-Idempotent-Replay': 'true' } } : {};
    return { status: 200, rawBody: answer.text, ...replayed };
  };
