/** `/conformance/runs`: the vectors against an endpoint of the caller's. The runner does the work. */
import type { Routes } from '@svc/contract';
import {
  getConformanceRun as get,
  type ServiceDeps,
  startConformanceRun as start,
  type VectorSetName,
} from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentConformanceRun } from '../present/conformance-run.ts';

export const startConformanceRun =
  (deps: ServiceDeps, vectors: VectorSetName): Handler<Routes['startConformanceRun']> =>
  async ({ caller, body }) => {
    const run = await start(deps, caller, body.endpoint, vectors);
    return { status: 202, body: presentConformanceRun(run) };
  };

export const getConformanceRun =
  (deps: ServiceDeps): Handler<Routes['getConformanceRun']> =>
  async ({ caller, params }) => ({
    status: 200,
    body: presentConformanceRun(await get(deps, caller, params.run_id)),
  });
