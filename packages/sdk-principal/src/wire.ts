/** The records that only Principals read (interface §Grant allocation, §Agent, §Key states). */
import {
  type Agent,
  type AgentDisabled,
  type CredentialStatus,
  checked,
  didKey,
  didWeb,
  type GrantAllocation,
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
