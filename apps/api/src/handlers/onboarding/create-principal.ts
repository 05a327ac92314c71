/** `POST /principals`. */
import type { Routes } from '@svc/contract';
import { createPrincipal as create, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentPrincipalCreated } from '../../endpoints/principals.ts';

export const createPrincipal =
  (deps: ServiceDeps): Handler<Routes['createPrincipal']> =>
  async ({ caller, body, requestId }) => {
    const created = await create(deps, caller, body, requestId);
    return { status: 201, body: presentPrincipalCreated(deps.identity, created) };
  };
