/** `GET /metrics`: the service in numbers. What this node and a cache on the way keep adds up to 10 s at most. */
import type { Routes } from '@svc/contract';
import { metricsSource, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentMetrics } from '../../endpoints/usage.ts';

const KEPT_SECONDS = 5;
const headers = { 'Cache-Control': `public, max-age=${KEPT_SECONDS}` };

export const getMetrics = (deps: ServiceDeps): Handler<Routes['getMetrics']> => {
  const metricsOf = metricsSource(deps, KEPT_SECONDS * 1000);
  return async ({ query }) => {
    const body = presentMetrics(await metricsOf(query.days), deps.identity);
    return { status: 200, body, headers };
  };
};
