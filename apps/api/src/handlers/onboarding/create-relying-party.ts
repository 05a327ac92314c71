/** `POST /relying-parties`. */
import type { Routes } from '@svc/contract';
import { createRelyingParty as create, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentRelyingPartyCreated } from '../../endpoints/relying-parties.ts';

export const createRelyingParty =
  (deps: ServiceDeps): Handler<Routes['createRelyingParty']> =>
  async ({ caller, body, requestId }) => {
    const created = await create(deps, caller, body, requestId);
    return { status: 201, body: presentRelyingPartyCreated(created) };
  };
