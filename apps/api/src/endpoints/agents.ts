/** Agents on the wire (interface §Agent). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { AgentRecord, DisabledAgent } from '@svc/service';

export const presentAgent = ({
  did,
  principal,
  createdAtMs,
}: AgentRecord): Body<Routes['registerAgent'], 201> => ({
  did,
  principal,
  created_at: formatTimestamp(createdAtMs),
});

export const presentDisabledAgent = ({
  did,
  disabledAtMs,
  revokedGrants,
}: DisabledAgent): Body<Routes['disableAgent'], 200> => ({
  did,
  disabled_at: formatTimestamp(disabledAtMs),
  revoked_grants: [...revokedGrants],
});
