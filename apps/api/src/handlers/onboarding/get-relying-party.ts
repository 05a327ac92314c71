/** `GET /relying-parties/{did}`. */
import type { Routes } from '@svc/contract';
import { getRelyingParty as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentRelyingParty } from '../../endpoints/relying-parties.ts';

export const getRelyingParty =
  (deps: ServiceDeps): Handler<Routes['getRelyingParty']> =>
  async ({ caller, params }) => ({
    status: 200,
    body: presentRelyingParty(await get(deps, caller, params.did)),
  });
