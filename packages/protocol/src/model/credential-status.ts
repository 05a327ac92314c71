/** The Grant's `credentialStatus`: one entry of a Bitstring Status List (interface §CredentialStatus). */
import { isJsonObject, type JsonValue } from '@svc/codec';
import { type Findings, member, unknownMembers } from './members.ts';

/** Where a Grant's revocation is published (Bitstring Status List 1.0 §2.1). */
export interface CredentialStatus {
  readonly id: string;
  readonly type: 'BitstringStatusListEntry';
  readonly statusPurpose: 'revocation';
  readonly statusListIndex: string;
  readonly statusListCredential: string;
}

const MEMBERS = new Set(['id', 'type', 'statusPurpose', 'statusListIndex', 'statusListCredential']);
const INDEX = /^(0|[1-9][0-9]*)$/;
const URI = /^https?:\/\/[\x21-\x7e]+$/;
/** The longest URI of a status entry, in characters. */
export const STATUS_URI_MAX_CHARS = 2048;
/** The maximum number of digits of a status list index. */
export const STATUS_INDEX_MAX_DIGITS = 16;

const isUri = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= STATUS_URI_MAX_CHARS && URI.test(value);

/** A Grant's `credentialStatus`; null if it has faults, which are added to `findings`. */
export const parseCredentialStatus = (
  value: JsonValue | undefined,
  findings: Findings,
): CredentialStatus | null => {
  if (!isJsonObject(value)) {
    findings.malformed('credentialStatus must be an object');
    return null;
  }
  for (const name of unknownMembers(value, MEMBERS))
    findings.unsupported(`credentialStatus has an unknown member "${name}"`);
  const id = member(value, 'id');
  const type = member(value, 'type');
  const statusPurpose = member(value, 'statusPurpose');
  const statusListIndex = member(value, 'statusListIndex');
  const statusListCredential = member(value, 'statusListCredential');
  if (typeof type !== 'string') findings.malformed('credentialStatus.type must be a string');
  else if (type !== 'BitstringStatusListEntry')
    findings.unsupported(`credentialStatus.type "${type}" is not known`);
  if (typeof statusPurpose !== 'string')
    findings.malformed('credentialStatus.statusPurpose must be a string');
  else if (statusPurpose !== 'revocation')
    findings.unsupported(`credentialStatus.statusPurpose "${statusPurpose}" is not known`);
  if (!isUri(id)) findings.malformed('credentialStatus.id must be an http(s) URI');
  if (!isUri(statusListCredential))
    findings.malformed('credentialStatus.statusListCredential must be an http(s) URI');
  if (
    typeof statusListIndex !== 'string' ||
    statusListIndex.length > STATUS_INDEX_MAX_DIGITS ||
    !INDEX.test(statusListIndex)
  )
    findings.malformed('credentialStatus.statusListIndex must be a decimal string');
  if (findings.worst !== null) return null;
  return {
    id: id as string,
    type: 'BitstringStatusListEntry',
    statusPurpose: 'revocation',
    statusListIndex: statusListIndex as string,
    statusListCredential: statusListCredential as string,
  };
};
