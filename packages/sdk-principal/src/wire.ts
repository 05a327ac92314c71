/** Records of the service as they travel (interface §Resources and their fields), and the checks that read them. */
import {
  type DidKey,
  type DidWeb,
  type GrantId,
  isGrantId,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseDidKey,
  parseDidWeb,
} from '@svc/protocol';
import { SvcError } from '@svc/sdk-core';
import type { BitstringStatusListEntry } from '@svc/status-list';

export interface GrantAllocation {
  id: GrantId;
  issuer: DidWeb;
  agent: DidKey;
  credentialStatus: BitstringStatusListEntry;
  allocated_at: string;
}

export interface GrantSummary {
  id: GrantId;
  principal: DidWeb;
  agent: DidKey;
  status_list: string;
  status_list_index: number;
  allocated_at: string;
  revoked_at: string | null;
  state: 'active' | 'revoked';
}

export interface GrantList {
  grants: GrantSummary[];
  next_cursor: string | null;
}

export interface RevokeResponse {
  grant_id: GrantId;
  revoked: true;
  revoked_at: string;
}

export interface Me {
  subject: string;
  role: string;
  key_id: string;
  service_did: string;
  env: string;
  [member: string]: JsonValue;
}

export function parseGrantAllocation(body: JsonValue): GrantAllocation {
  const { id, issuer, agent, credentialStatus, allocated_at } = object(body, 'a Grant allocation');
  return {
    id: grantId(id),
    issuer: didWeb(issuer),
    agent: didKey(agent),
    credentialStatus: parseStatusEntry(credentialStatus),
    allocated_at: timestamp(allocated_at),
  };
}

export function parseGrantList(body: JsonValue): GrantList {
  const { grants, next_cursor } = object(body, 'a page of Grants');
  if (!Array.isArray(grants)) throw unexpected('a list of Grants');
  if (next_cursor !== null && typeof next_cursor !== 'string') throw unexpected('a cursor');
  return { grants: grants.map(parseGrantSummary), next_cursor };
}

export function parseRevokeResponse(body: JsonValue): RevokeResponse {
  const { grant_id, revoked, revoked_at } = object(body, 'a revocation');
  if (revoked !== true) throw unexpected('a revocation');
  return { grant_id: grantId(grant_id), revoked, revoked_at: timestamp(revoked_at) };
}

export function parseMe(body: JsonValue): Me {
  const me = object(body, 'a caller identity');
  const { subject, role, key_id, service_did, env } = me;
  return {
    ...me,
    subject: text(subject),
    role: text(role),
    key_id: text(key_id),
    service_did: text(service_did),
    env: text(env),
  };
}

function parseGrantSummary(value: JsonValue): GrantSummary {
  const { id, principal, agent, status_list, status_list_index, allocated_at, revoked_at, state } = object(
    value,
    'a Grant summary',
  );
  if (state !== 'active' && state !== 'revoked') throw unexpected('a Grant state');
  if (typeof status_list_index !== 'number') throw unexpected('a status list index');
  return {
    id: grantId(id),
    principal: didWeb(principal),
    agent: didKey(agent),
    status_list: text(status_list),
    status_list_index,
    allocated_at: timestamp(allocated_at),
    revoked_at: revoked_at === null ? null : timestamp(revoked_at),
    state,
  };
}

const STATUS_INDEX = /^(0|[1-9][0-9]*)$/;

function parseStatusEntry(value: JsonValue | undefined): BitstringStatusListEntry {
  const entry = object(value, 'a status entry');
  const { id, type, statusPurpose, statusListIndex, statusListCredential } = entry;
  const url = text(statusListCredential);
  const index = text(statusListIndex);
  const isClosed = Object.keys(entry).length === 5;
  const isKnown = type === 'BitstringStatusListEntry' && statusPurpose === 'revocation';
  if (!isClosed || !isKnown || !STATUS_INDEX.test(index)) throw unexpected('a revocation status entry');
  if (!URL.canParse(url) || id !== `${url}#${index}`) throw unexpected('a status list address');
  return { id, type, statusPurpose, statusListIndex: index, statusListCredential: url };
}

const unexpected = (what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: expected ${what}`);

function object(value: JsonValue | undefined, what: string): JsonObject {
  if (value === undefined || !isJsonObject(value)) throw unexpected(what);
  return value;
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || value === '') throw unexpected('text');
  return value;
}

function timestamp(value: JsonValue | undefined): string {
  const instant = text(value);
  if (!instant.endsWith('Z') || Number.isNaN(Date.parse(instant))) throw unexpected('a UTC time stamp');
  return instant;
}

function grantId(value: JsonValue | undefined): GrantId {
  if (!isGrantId(value)) throw unexpected('a Grant id');
  return value;
}

function didWeb(value: JsonValue | undefined): DidWeb {
  const did = parseDidWeb(text(value));
  if (did === null) throw unexpected('a did:web DID');
  return did.did;
}

function didKey(value: JsonValue | undefined): DidKey {
  const did = parseDidKey(text(value));
  if (did === null) throw unexpected('a did:key DID');
  return did.did;
}
