/** `/observer-keys`: keys that read service-wide numbers. */
import type { Routes } from '@svc/contract';
import { issueOwnedKey, listOwnedKeys, observerOwner, revokeOwnedKey, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentIssuedKey, presentKey, presentRevokedKey } from '../../present/api-key.ts';

export const listObserverKeys =
  (deps: ServiceDeps): Handler<Routes['listObserverKeys']> =>
  async () => ({
    status: 200,
    body: { keys: (await listOwnedKeys(deps, observerOwner(deps))).map(presentKey) },
  });

export const issueObserverKey =
  (deps: ServiceDeps): Handler<Routes['issueObserverKey']> =>
  async ({ caller, body, requestId }) => {
    const { subject } = observerOwner(deps);
    const key = { subject, role: 'observer', label: body.label ?? null } as const;
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, key, requestId)) };
  };

export const revokeObserverKey =
  (deps: ServiceDeps): Handler<Routes['revokeObserverKey']> =>
  async ({ caller, params, requestId }) => {
    const revoked = await revokeOwnedKey(deps, caller, observerOwner(deps), params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  };
