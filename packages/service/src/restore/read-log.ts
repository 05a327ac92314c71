/**
 * What was taken away or handed over as the log of the API tells it (lib/revocation-log.ts writes the lines), for what nothing
 * else names: above all that of the last second before a loss.
 */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import type { ClaimKind } from '../ports/claims.ts';
import type { FenceRecord } from './fence-records.ts';

/** A DID that was transferred, or released, at `atMs` by the node's clock. */
export interface LoggedHandOver {
  readonly did: string;
  readonly kind: ClaimKind;
  /** Which registration of the DID it was. */
  readonly sinceMs: number;
  readonly atMs: number;
  readonly fromOrg: string | null;
  /** Null: it is in no org then. */
  readonly toOrg: string | null | 'released';
}

/** Who and what, each once. */
export interface LoggedRevocations {
  readonly grants: ReadonlyMap<string, string>;
  /** By the Principal whose keys they are. */
  readonly compromisedKeys: ReadonlyMap<string, string>;
  readonly apiKeys: ReadonlySet<string>;
  /** In the form of what is kept beside the fence. */
  readonly ended: readonly FenceRecord[];
  /** In the order of their time, whichever node's log they stand in. */
  readonly handedOver: readonly LoggedHandOver[];
}

export const readRevocationLog = (lines: Iterable<string>): LoggedRevocations => {
  const grants = new Map<string, string>();
  const compromisedKeys = new Map<string, string>();
  const apiKeys = new Set<string>();
  const ended: FenceRecord[] = [];
  const handedOver: LoggedHandOver[] = [];
  for (const line of lines) {
    // Most lines of a log are others.
    if (!line.includes('"revocation"')) continue;
    const start = line.indexOf('{');
    const json = parseStrictJson(line.slice(Math.max(start, 0)).trim());
    if (!json.ok || !isJsonObject(json.value) || json.value.msg !== 'revocation') continue;
    const { grant_ids: ids, kid, key_id: keyId, principal, ended: name, kept } = json.value;
    if (typeof principal === 'string') {
      if (Array.isArray(ids)) for (const id of ids) if (typeof id === 'string') grants.set(id, principal);
      if (typeof kid === 'string') compromisedKeys.set(kid, principal);
    }
    if (typeof keyId === 'string') apiKeys.add(keyId);
    if (typeof name === 'string' && kept !== undefined && isJsonObject(kept)) ended.push({ name, kept });
    const handOver = parseHandOver(json.value);
    if (handOver !== null) handedOver.push(handOver);
  }
  handedOver.sort((one, other) => one.atMs - other.atMs);
  return { grants, compromisedKeys, apiKeys, ended, handedOver };
};

const parseHandOver = (line: JsonObject): LoggedHandOver | null => {
  const { did, kind, since_ms: sinceMs, at_ms: atMs, from_org: fromOrg, to_org: toOrg } = line;
  if (typeof did !== 'string' || (kind !== 'principal' && kind !== 'relying_party')) return null;
  if (typeof sinceMs !== 'number' || typeof atMs !== 'number') return null;
  if (!isOrgOrNull(fromOrg) || !isOrgOrNull(toOrg)) return null;
  return { did, kind, sinceMs, atMs, fromOrg, toOrg };
};

const isOrgOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
