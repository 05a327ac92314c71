/** `GET /grants/{id}/consumption`: the balances of a Grant's budgets, and a page of their log. */
import type { Routes } from '@svc/contract';
import { getConsumption, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentConsumption } from '../../present/consumption.ts';

export const getGrantConsumption =
  (deps: ServiceDeps): Handler<Routes['getGrantConsumption']> =>
  async ({ caller, params, query }) => ({
    status: 200,
    body: presentConsumption(await getConsumption(deps, caller, params.id, query)),
  });
