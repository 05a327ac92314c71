/** API keys on the wire (interface §API keys and caller identity). The value is in `presentIssuedKey` alone. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import { type ApiKeyRecord, type IssuedApiKey, internal } from '@svc/service';

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
  revoked_at: revokedAtMs === null ? null : formatTimestamp(revokedAtMs),
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
