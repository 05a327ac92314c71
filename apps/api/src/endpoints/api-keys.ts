/** `/api-keys`: keys of Principals and relying parties. */
import type { Routes } from '@svc/contract';
import {
  issueOwnedKey,
  listOwnedKeys,
  ownerFor,
  ownerForRevocation,
  revokeOwnedKey,
  type ServiceDeps,
  soleRole,
} from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentIssuedKey, presentKey, presentRevokedKey } from '../present/api-key.ts';

export const listApiKeys =
  (deps: ServiceDeps): Handler<Routes['listApiKeys']> =>
  async ({ caller, query }) => {
    const owner = await ownerFor(deps, caller, query.subject);
    const keys = await listOwnedKeys(deps, owner);
    return { status: 200, body: { subject: owner.subject, keys: keys.map(presentKey) } };
  };

export const issueApiKey =
  (deps: ServiceDeps): Handler<Routes['issueApiKey']> =>
  async ({ caller, query, body, requestId }) => {
    const owner = await ownerFor(deps, caller, query.subject);
    const key = { subject: owner.subject, role: soleRole(owner), label: body.label ?? null };
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, key, requestId)) };
  };

export const revokeApiKey =
  (deps: ServiceDeps): Handler<Routes['revokeApiKey']> =>
  async ({ caller, params, query, requestId }) => {
    const owner = await ownerForRevocation(deps, caller, params.key_id, query.subject);
    const revoked = await revokeOwnedKey(deps, caller, owner, params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  };
