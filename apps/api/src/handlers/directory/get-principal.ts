/** `GET /principals/{did}`: the full record to those it belongs to, else the directory entry. */
import type { Routes } from '@svc/contract';
import { getPrincipal as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentDirectoryEntry, presentPrincipal } from '../../endpoints/principals.ts';

export const getPrincipal =
  (deps: ServiceDeps): Handler<Routes['getPrincipal']> =>
  async ({ caller, params }) => {
    const { principal, isFull } = await get(deps, caller, params.did);
    return {
      status: 200,
      body: isFull ? presentPrincipal(deps.identity, principal) : presentDirectoryEntry(principal),
    };
  };
