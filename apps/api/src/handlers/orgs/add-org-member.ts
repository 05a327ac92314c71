/** `POST /orgs/{org_id}/members`. */
import type { Routes } from '@svc/contract';
import { addMember, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

export const addOrgMember =
  (deps: ServiceDeps): Handler<Routes['addOrgMember']> =>
  async ({ caller, params, body }) => {
    const kind = await addMember(deps, caller, params.org_id, body.did);
    return { status: 201, body: { org_id: params.org_id, did: body.did, kind } };
  };
