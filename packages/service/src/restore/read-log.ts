/**
 * Reads from the API's log what was taken away or handed over (fence/revocation-log.ts writes the lines). Only the log
 * has the changes of the last second before a loss, or all changes where the fence was lost too.
 */
import { isJsonObject, isStringArray, type JsonObject } from '@svc/protocol';
import type { ClaimKind } from '../ports/claims.ts';
import type { FenceRecord } from './fence-records.ts';
import { type LogLine, LogLines } from './log-lines.ts';

/** A DID that was transferred, or released, at `atMs` by the node's clock. */
export interface LoggedHandOver {
  readonly did: string;
  readonly kind: ClaimKind;
  /** When the DID was registered, which identifies the registration. */
  readonly sinceMs: number;
  readonly atMs: number;
  readonly fromOrg: string | null;
  /** Null: the DID was then in no org. */
  readonly toOrg: string | null | 'released';
}

/** The changes that a log has, each once. */
export interface LoggedRevocations {
  /** Principal by Grant id. */
  readonly grants: ReadonlyMap<string, string>;
  /** Principal by kid. */
  readonly compromisedKeys: ReadonlyMap<string, string>;
  readonly apiKeys: ReadonlySet<string>;
  /** Records in the form kept beside the fence, in the order of `time` of their lines, across the logs of all nodes. */
  readonly ended: readonly FenceRecord[];
  /** In the order of `atMs`, across the logs of all nodes. */
  readonly handedOver: readonly LoggedHandOver[];
}

/** Reader of one log file. */
export interface LogFile {
  /** Takes one line of the file, without its newline. */
  read(line: string): void;
  /** To be called after the last line. */
  end(): ReadLog;
}

export interface ReadLog {
  /** Number of the service's lines of all kinds. */
  readonly lines: number;
  readonly revocations: number;
  /** The first line that may be about a revocation and could not be read; null: there is none. */
  readonly fault: string | null;
}

/** Collects the changes from the files of a log. */
export class RevocationLog {
  readonly #grants = new Map<string, string>();
  readonly #compromisedKeys = new Map<string, string>();
  readonly #apiKeys = new Set<string>();
  readonly #ended: (FenceRecord & { readonly time: string })[] = [];
  readonly #handedOver: LoggedHandOver[] = [];

  open(): LogFile {
    const lines = new LogLines();
    let [seen, own, revocations, fault] = [0, 0, 0, null as string | null];
    const note = (line: LogLine, place: string) => {
      const why = line.kind === 'line' ? this.#take(line.json) : line.kind === 'fault' ? line.why : null;
      if (line.kind === 'line') own += 1;
      if (line.kind === 'line' && line.json.msg === 'revocation') revocations += 1;
      if (why !== null) fault ??= `${place} has ${why}`;
    };
    return {
      read: (line) => {
        seen += 1;
        note(lines.read(line), `line ${seen}`);
      },
      end: () => {
        note(lines.end(), 'its end');
        return { lines: own, revocations, fault };
      },
    };
  }

  found(): LoggedRevocations {
    const handedOver = [...this.#handedOver].sort((one, other) => one.atMs - other.atMs);
    const ended = [...this.#ended]
      .sort((one, other) => Number(one.time > other.time) - Number(one.time < other.time))
      .map(({ name, kept }) => ({ name, kept }));
    return {
      ...{ grants: this.#grants, compromisedKeys: this.#compromisedKeys, apiKeys: this.#apiKeys },
      ...{ ended, handedOver },
    };
  }

  /** Takes one of the service's lines. Answers why it could not be read; null: it was read. */
  #take(line: JsonObject): string | null {
    if (line.msg !== 'revocation') return null;
    const isTaken = [this.#takeOfPrincipal(line), this.#takeApiKey(line), this.#takeEnd(line)].includes(true);
    const handOver = parseHandOver(line);
    if (handOver !== null) this.#handedOver.push(handOver);
    return isTaken || handOver !== null ? null : 'a revocation of a kind that this version does not know';
  }

  #takeOfPrincipal({ principal, grant_ids: ids, kid }: JsonObject): boolean {
    if (typeof principal !== 'string') return false;
    if (isStringArray(ids)) for (const id of ids) this.#grants.set(id, principal);
    if (typeof kid === 'string') this.#compromisedKeys.set(kid, principal);
    return isStringArray(ids) || typeof kid === 'string';
  }

  #takeApiKey({ key_id: keyId }: JsonObject): boolean {
    if (typeof keyId === 'string') this.#apiKeys.add(keyId);
    return typeof keyId === 'string';
  }

  #takeEnd({ ended: name, kept, time }: JsonObject): boolean {
    if (typeof name !== 'string' || kept === undefined || !isJsonObject(kept)) return false;
    this.#ended.push({ name, kept, time: typeof time === 'string' ? time : '' });
    return true;
  }
}

const parseHandOver = (line: JsonObject): LoggedHandOver | null => {
  const { did, kind, since_ms: sinceMs, at_ms: atMs, from_org: fromOrg, to_org: toOrg } = line;
  if (typeof did !== 'string' || (kind !== 'principal' && kind !== 'relying_party')) return null;
  if (typeof sinceMs !== 'number' || typeof atMs !== 'number') return null;
  if (!isOrgOrNull(fromOrg) || !isOrgOrNull(toOrg)) return null;
  return { did, kind, sinceMs, atMs, fromOrg, toOrg };
};

const isOrgOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
