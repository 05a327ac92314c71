/** `GET /orgs/{org_id}`: the org with all its members. */
import type { Routes } from '@svc/contract';
import { getOrg as get, listMembers, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentMembers, presentOrg } from '../../endpoints/orgs.ts';

export const getOrg =
  (deps: ServiceDeps): Handler<Routes['getOrg']> =>
  async ({ caller, params }) => {
    const org = await get(deps, caller, params.org_id);
    const members = presentMembers(deps.identity, await listMembers(deps, org.orgId));
    return { status: 200, body: { ...presentOrg(org), members } };
  };
