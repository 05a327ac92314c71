/** `GET /principals`: one page of the directory, ascending DIDs. */
import type { Routes } from '@svc/contract';
import { listPrincipals as list, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentDirectoryEntry } from '../../endpoints/principals.ts';

export const listPrincipals =
  (deps: ServiceDeps): Handler<Routes['listPrincipals']> =>
  async ({ caller, query }) => {
    const { principals, nextCursor } = await list(deps, caller, query);
    return {
      status: 200,
      body: { principals: principals.map(presentDirectoryEntry), next_cursor: nextCursor },
    };
  };
