/**
 * The statement that a service publishes after its database was set back to a backup (protocol §12). It is a compact
 * JWS by a status key with exactly the header `{"alg":"EdDSA","kid":"<iss>#status-<n>","typ":"svc-restore+jwt"}`, over
 * the RFC 8785 form of its payload.
 */
import {
  type CryptoPort,
  type Failure,
  failure,
  type JsonObject,
  parseUtcTime,
  portableCrypto,
} from '@svc/codec';
import { dayEndMs, isDay } from './checkpoint/day.ts';
import { MAX_AHEAD_MS } from './key-time.ts';
import { readServiceJws } from './service-jws.ts';
import { openServiceKeys, type ServiceKeyFailureCode } from './service-keys.ts';

/** The `typ` of a restore statement's protected header. */
export const RESTORE_TYP = 'svc-restore+jwt';
const MAX_CHARS = 65_536;

/**
 * The payload of a restore statement: what the ledger may lack after it was restored from a backup (protocol §12).
 */
export interface RestoreStatement {
  /** The service's did:web DID. */
  readonly iss: string;
  /** 1 for the first restore of a ledger. */
  readonly epoch: number;
  /** RFC 3339 UTC. Anything that was promised from then until `lost_until` may be missing in the ledger. */
  readonly lost_from: string;
  readonly lost_until: string;
  /** RFC 3339 UTC; nothing was decided before. */
  readonly quarantined_until: string;
  /** Days whose published checkpoints were put back without the Receipts that they cover. */
  readonly reinstated_days: readonly string[];
  /** Number of Grants that were revoked again. */
  readonly revoked_again: number;
  /** Hash of the previous statement; null for the first. */
  readonly previous: string | null;
  /** Seconds since the epoch. */
  readonly iat: number;
}

/** A restore statement, and what it is verified with. */
export interface RestoreStatementToVerify {
  /** The compact JWS. */
  readonly statement: string;
  /** The service's pinned DID document, as an object or its text, or the result of `readServiceKeys` for it. */
  readonly serviceDidDocument: unknown;
  /** Default: portable JavaScript. */
  readonly crypto?: CryptoPort;
}

/**
 * `wrong-statement`: it does not have the form of a statement, is not of its signer, or is dated before the end of the
 * span that it states.
 */
export type RestoreStatementFailure = Failure<ServiceKeyFailureCode | 'wrong-statement'>;

/** Verifies that the service signed this statement. Never throws: all faults are in `failures`. */
export const verifyRestoreStatement = ({
  statement: text,
  serviceDidDocument,
  crypto = portableCrypto,
}: RestoreStatementToVerify):
  | { readonly ok: true; readonly statement: RestoreStatement; readonly kid: string }
  | { readonly ok: false; readonly failures: readonly RestoreStatementFailure[] } => {
  const refuse = (what: string) => ({
    ok: false as const,
    failures: [failure('wrong-statement' as const, what)],
  });
  const jws = readServiceJws(text, RESTORE_TYP, MAX_CHARS);
  if (!jws.ok) return refuse(`a statement must be a compact JWS: ${jws.problem}`);
  const { kid, payload } = jws;
  if (kid === null || !jws.isPayloadCanonical)
    return refuse('header or payload are not as a statement has them');
  if (!isStatement(payload) || !kid.startsWith(`${payload.iss}#status-`))
    return refuse('the payload is no statement of its signer');
  // The thief of a key that has ended would otherwise date a statement before that end, to excuse a later loss.
  if (findEndMs(payload) > payload.iat * 1_000 + MAX_AHEAD_MS)
    return refuse('the statement is dated before the end of what it states');
  const failures: RestoreStatementFailure[] = [];
  const keys = openServiceKeys(serviceDidDocument, failures);
  const wrong = keys?.check('status', { ...jws, kid, signedAtMs: payload.iat * 1_000 }, crypto);
  if (wrong) failures.push(wrong);
  if (failures.length > 0) return { ok: false, failures };
  return { ok: true, statement: payload, kid };
};

/**
 * End of the stated span and of the stated days, in milliseconds since the epoch; infinite if one of them is not valid.
 */
const findEndMs = ({ lost_until: until, reinstated_days: days }: RestoreStatement): number =>
  days.reduce(
    (endMs, day) => Math.max(endMs, isDay(day) ? dayEndMs(day) : Number.POSITIVE_INFINITY),
    parseUtcTime(until) ?? Number.POSITIVE_INFINITY,
  );

const TEXTS = ['iss', 'lost_from', 'lost_until', 'quarantined_until'] as const;
const COUNTS = ['epoch', 'revoked_again', 'iat'] as const;
const isText = (value: unknown): value is string => typeof value === 'string';

const isStatement = (payload: JsonObject): payload is JsonObject & RestoreStatement =>
  Object.keys(payload).length === TEXTS.length + COUNTS.length + 2 &&
  TEXTS.every((name) => isText(payload[name])) &&
  COUNTS.every((name) => Number.isSafeInteger(payload[name])) &&
  Array.isArray(payload.reinstated_days) &&
  payload.reinstated_days.every(isText) &&
  (payload.previous === null || isText(payload.previous));
