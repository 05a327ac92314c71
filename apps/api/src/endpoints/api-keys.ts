/**
 * API keys of Principals, relying parties and observers (interface §API keys and caller identity). Only
 * `presentIssuedKey` shows a key's value.
 */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type ApiKeyRecord,
  type IssuedApiKey,
  internal,
  issueOwnedKey,
  listOwnedKeys,
  observerOwner,
  ownerFor,
  ownerForRevocation,
  revokeOwnedKey,
  type ServiceDeps,
  soleRole,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const apiKeyEndpoints = (deps: ServiceDeps): HandlersOf<'api-keys'> => ({
  listApiKeys: async ({ caller, query }) => {
    const owner = await ownerFor(deps, caller, query.subject);
    const keys = await listOwnedKeys(deps, owner);
    return { status: 200, body: { subject: owner.subject, keys: keys.map(presentKey) } };
  },

  issueApiKey: async ({ caller, query, body, requestId }) => {
    const owner = await ownerFor(deps, caller, query.subject);
    const key = { role: soleRole(owner), label: body.label ?? null };
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, owner, key, requestId)) };
  },

  revokeApiKey: async ({ caller, params, query, requestId }) => {
    const owner = await ownerForRevocation(deps, caller, params.key_id, query.subject);
    const revoked = await revokeOwnedKey(deps, caller, owner, params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  },

  listObserverKeys: async () => {
    const keys = await listOwnedKeys(deps, observerOwner(deps));
    return { status: 200, body: { keys: keys.map(presentKey) } };
  },

  issueObserverKey: async ({ caller, body, requestId }) => {
    const owner = observerOwner(deps);
    const key = { role: 'observer', label: body.label ?? null } as const;
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, owner, key, requestId)) };
  },

  revokeObserverKey: async ({ caller, params, requestId }) => {
    const revoked = await revokeOwnedKey(deps, caller, observerOwner(deps), params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  },
});

type ApiKey = Body<Routes['listApiKeys'], 200>['keys'][number];

export const presentKey = ({
  keyId,
  role,
  subject,
  label,
  createdAtMs,
  revokedAtMs,
}: ApiKeyRecord): ApiKey => ({
  key_id: keyId,
  role,
  subject,
  label,
  created_at: formatTimestamp(createdAtMs),
  revoked_at: formatTimestampOrNull(revokedAtMs),
});

export const presentIssuedKey = ({ record, value }: IssuedApiKey): Body<Routes['issueApiKey'], 201> => ({
  ...presentKey(record),
  api_key: value,
});

export const presentRevokedKey = ({
  keyId,
  revokedAtMs,
}: ApiKeyRecord): Body<Routes['revokeApiKey'], 200> => {
  if (revokedAtMs === null) throw internal(`key ${keyId} is live after its revocation`);
  return { key_id: keyId, revoked: true, revoked_at: formatTimestamp(revokedAtMs) };
};
