/** `GET /healthz`: 200 when every backing service is reachable. */
import type { Routes } from '@svc/contract';
import type { ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

export const getHealth =
  (deps: ServiceDeps, isHealthy: () => Promise<boolean>): Handler<Routes['getHealth']> =>
  async () => {
    const { env, did } = deps.identity;
    return (await isHealthy())
      ? { status: 200, body: { ok: true, env, did } }
      : { status: 503, body: { ok: false, env, did } };
  };
