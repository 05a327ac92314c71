/** `POST /principals/{did}/verify`: 200 only once the outcome is visible everywhere. */
import type { Routes } from '@svc/contract';
import { type ServiceDeps, verifyPrincipal as verify } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentPrincipal } from '../../endpoints/principals.ts';

export const verifyPrincipal =
  (deps: ServiceDeps): Handler<Routes['verifyPrincipal']> =>
  async ({ caller, params, requestId }) => {
    const principal = await verify(deps, caller, params.did, requestId);
    return { status: 200, body: presentPrincipal(deps.identity, principal) };
  };
