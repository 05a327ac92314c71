/** `/orgs/{org_id}/api-keys`: the keys of the org itself. */
import type { Routes } from '@svc/contract';
import { issueOwnedKey, listOwnedKeys, orgOwner, revokeOwnedKey, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentIssuedKey, presentKey, presentRevokedKey } from '../../present/api-key.ts';

export const listOrgApiKeys =
  (deps: ServiceDeps): Handler<Routes['listOrgApiKeys']> =>
  async ({ caller, params }) => {
    const keys = await listOwnedKeys(deps, await orgOwner(deps, caller, params.org_id));
    return { status: 200, body: { org_id: params.org_id, keys: keys.map(presentKey) } };
  };

export const issueOrgApiKey =
  (deps: ServiceDeps): Handler<Routes['issueOrgApiKey']> =>
  async ({ caller, params, body, requestId }) => {
    const { subject } = await orgOwner(deps, caller, params.org_id);
    const key = { subject, role: `org:${body.role}`, label: body.label ?? null } as const;
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, key, requestId)) };
  };

export const revokeOrgApiKey =
  (deps: ServiceDeps): Handler<Routes['revokeOrgApiKey']> =>
  async ({ caller, params, requestId }) => {
    const owner = await orgOwner(deps, caller, params.org_id);
    const revoked = await revokeOwnedKey(deps, caller, owner, params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  };
