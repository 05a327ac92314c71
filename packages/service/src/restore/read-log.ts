/** Revocations as the log of the API tells them (log/revocation-log.ts writes the lines), for those that nothing else names. */
import { isJsonObject, parseStrictJson } from '@svc/protocol';

/** Who and what, each once. */
export interface LoggedRevocations {
  readonly grants: ReadonlyMap<string, string>;
  /** By the Principal whose keys they are. */
  readonly compromisedKeys: ReadonlyMap<string, string>;
  readonly apiKeys: ReadonlySet<string>;
}

export const readRevocationLog = (lines: Iterable<string>): LoggedRevocations => {
  const grants = new Map<string, string>();
  const compromisedKeys = new Map<string, string>();
  const apiKeys = new Set<string>();
  for (const line of lines) {
    // Most lines of a log are others.
    if (!line.includes('"revocation"')) continue;
    const start = line.indexOf('{');
    const json = parseStrictJson(line.slice(Math.max(start, 0)).trim());
    if (!json.ok || !isJsonObject(json.value) || json.value.msg !== 'revocation') continue;
    const { grant_ids: ids, kid, key_id: keyId, principal } = json.value;
    if (typeof principal === 'string') {
      if (Array.isArray(ids)) for (const id of ids) if (typeof id === 'string') grants.set(id, principal);
      if (typeof kid === 'string') compromisedKeys.set(kid, principal);
    }
    if (typeof keyId === 'string') apiKeys.add(keyId);
  }
  return { grants, compromisedKeys, apiKeys };
};
