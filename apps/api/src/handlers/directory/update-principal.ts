/** `PATCH /principals/{did}`: the consent to be named. */
import type { Routes } from '@svc/contract';
import { type ServiceDeps, setMayBeNamed } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentPrincipal } from '../../endpoints/principals.ts';

export const updatePrincipal =
  (deps: ServiceDeps): Handler<Routes['updatePrincipal']> =>
  async ({ params, body }) => {
    const principal = await setMayBeNamed(deps, params.did, body.may_be_named);
    return { status: 200, body: presentPrincipal(deps.identity, principal) };
  };
