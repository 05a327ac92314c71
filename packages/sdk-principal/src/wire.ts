/** The records that only Principals read (interface §Grant allocation, §Agent, §Key states). */
import { isReceiptId, isSha256 } from '@svc/protocol';
import {
  type Agent,
  type AgentDisabled,
  type ConsumptionBalance,
  type ConsumptionEvent,
  type CredentialStatus,
  checked,
  didKey,
  didWeb,
  type GrantAllocation,
  type GrantConsumption,
  type GrantList,
  type GrantSummary,
  grantId,
  integer,
  jsonObject,
  type KeyCompromised,
  type KeyRetired,
  list,
  nullable,
  oneOf,
  type Principal,
  type PrincipalDirectoryEntry,
  type Reader,
  type RevokeResponse,
  readDirectoryEntry,
  readPrincipal,
  record,
  text,
  timestamp,
  unexpected,
} from '@svc/sdk-core';

const sha256 = checked('sha256: and 64 hex characters', isSha256);
const STATUS_INDEX = /^(0|[1-9][0-9]*)$/;

const statusEntry = record<CredentialStatus>({
  id: text,
  type: oneOf('BitstringStatusListEntry'),
  statusPurpose: oneOf('revocation'),
  statusListIndex: checked(
    'a list index',
    (value): value is string => typeof value === 'string' && STATUS_INDEX.test(value),
  ),
  statusListCredential: checked(
    'a URL',
    (value): value is string => typeof value === 'string' && URL.canParse(value),
  ),
});

/** What comes here is signed, so an entry that says more than is understood is refused. */
const readStatusEntry: Reader<CredentialStatus> = (value, at) => {
  const entry = statusEntry(value, at);
  const isClosed = Object.keys(jsonObject(value, at)).length === Object.keys(entry).length;
  const { id, statusListCredential, statusListIndex } = entry;
  if (!isClosed || id !== `${statusListCredential}#${statusListIndex}`) {
    throw unexpected(at, 'a revocation status entry');
  }
  return entry;
};

export const readGrantAllocation = record<GrantAllocation>({
  id: grantId,
  issuer: didWeb,
  agent: didKey,
  credentialStatus: readStatusEntry,
  allocated_at: timestamp,
});

export const readGrantList = record<GrantList>({
  grants: list(
    record<GrantSummary>({
      id: grantId,
      principal: didWeb,
      agent: didKey,
      status_list: text,
      status_list_index: integer,
      allocated_at: timestamp,
      revoked_at: nullable(timestamp),
      state: oneOf('active', 'revoked'),
    }),
  ),
  next_cursor: nullable(text),
});

const limits = record<ConsumptionBalance['limits']>({
  total: nullable(integer),
  per_period: nullable(integer),
  uses: nullable(integer),
});

export const readGrantConsumption = record<GrantConsumption>({
  grant_id: grantId,
  principal: didWeb,
  agent: didKey,
  version: integer,
  as_of: timestamp,
  snapshot_hash: sha256,
  capabilities: list(
    record<ConsumptionBalance>({
      key: sha256,
      spent_total: integer,
      spent_in_period: integer,
      period_start: nullable(timestamp),
      uses_spent: integer,
      limits,
      remaining: limits,
      updated_at: timestamp,
    }),
  ),
  events: list(
    record<ConsumptionEvent>({
      version: integer,
      key: sha256,
      delta_total: integer,
      delta_period: integer,
      delta_uses: integer,
      period_start: nullable(timestamp),
      cause: oneOf('consume', 'restore', 'restore_reversal'),
      cause_id: text,
      receipt_id: checked('a Receipt id', isReceiptId),
      recorded_at: timestamp,
    }),
  ),
  next_cursor: nullable(integer),
});

export const readRevokeResponse = record<RevokeResponse>({
  grant_id: grantId,
  revoked: oneOf(true),
  revoked_at: timestamp,
});

export const readAgent = record<Agent>({ did: didKey, principal: didWeb, created_at: timestamp });

export const readAgentDisabled = record<AgentDisabled>({
  did: didKey,
  disabled_at: timestamp,
  revoked_grants: list(grantId),
});

export const readKeyRetired = record<KeyRetired>({ kid: text, state: oneOf('retired', 'compromised') });
export const readKeyCompromised = record<KeyCompromised>({ kid: text, state: oneOf('compromised') });

/** The full record where it is the caller's own, the directory entry otherwise. */
export const readPrincipalView: Reader<Principal | PrincipalDirectoryEntry> = (value, at) =>
  jsonObject(value, at).registered_at === undefined
    ? readPrincipal(value, at)
    : readDirectoryEntry(value, at);
