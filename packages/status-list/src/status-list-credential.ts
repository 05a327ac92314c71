/**
 * The credential that publishes a list (Bitstring Status List 1.0 §2.2; protocol §9). It is the payload of a compact
 * JWS, which the caller signs, or has verified. Parsing is closed: a Grant, a Receipt or any other payload in the place
 * of a list is refused by its shape.
 */
import { parseUtcTime } from '@svc/codec';

const CONTEXT = 'https://www.w3.org/ns/credentials/v2';
const TYPES = ['VerifiableCredential', 'BitstringStatusListCredential'] as const;

/** A status list credential (Bitstring Status List 1.0 §2.2). Times are RFC 3339 in UTC. */
export interface StatusListCredential {
  readonly '@context': readonly string[];
  /** The URL under which the credential is published. */
  readonly id: string;
  readonly type: readonly string[];
  readonly issuer: string;
  readonly validFrom: string;
  readonly validUntil?: string;
  readonly credentialSubject: {
    readonly id: string;
    readonly type: 'BitstringStatusList';
    readonly statusPurpose: 'revocation';
    readonly encodedList: string;
    /** Milliseconds for which a copy may be used. */
    readonly ttl: number;
  };
}

/** The values of a status list credential. */
export interface StatusListContent {
  /** The URL under which it is published. */
  id: string;
  /** The service's DID. */
  issuer: string;
  /** RFC 3339 UTC. */
  validFrom: string;
  validUntil?: string;
  /** The bits, as encoded by `encodeBitstring`. */
  encodedList: string;
  /** Milliseconds; default 30,000. */
  ttlMs?: number;
  purpose?: 'revocation';
}

/** The credential of a status list (Bitstring Status List 1.0 §2.2), to be signed. */
export function buildStatusListCredential(content: StatusListContent): StatusListCredential {
  return {
    '@context': [CONTEXT],
    id: content.id,
    type: [...TYPES],
    issuer: content.issuer,
    validFrom: content.validFrom,
    ...(content.validUntil === undefined ? {} : { validUntil: content.validUntil }),
    credentialSubject: {
      id: `${content.id}#list`,
      type: 'BitstringStatusList',
      statusPurpose: content.purpose ?? 'revocation',
      encodedList: content.encodedList,
      ttl: content.ttlMs ?? 30_000,
    },
  };
}

/**
 * A verified JWS payload as a status list; null if it is anything else. Does not decode `encodedList`, and does not
 * check that the issuer is the right one or that the list is current.
 */
export function parseStatusListCredential(payload: unknown): StatusListCredential | null {
  if (!isClosed(payload, CREDENTIAL_MEMBERS, ['validUntil'])) return null;
  const { id, issuer, validFrom, validUntil, credentialSubject: subject } = payload;
  if (!isExactly(payload['@context'], [CONTEXT]) || !isExactly(payload.type, TYPES)) return null;
  if (!isNonEmpty(id) || !isNonEmpty(issuer) || !isTimestamp(validFrom)) return null;
  if (validUntil !== undefined && !isTimestamp(validUntil)) return null;
  if (!isClosed(subject, SUBJECT_MEMBERS, [])) return null;
  const { encodedList, ttl, statusPurpose } = subject;
  if (subject.id !== `${id}#list` || subject.type !== 'BitstringStatusList') return null;
  if (statusPurpose !== 'revocation' || !isNonEmpty(encodedList)) return null;
  if (typeof ttl !== 'number' || !Number.isSafeInteger(ttl) || ttl < 0) return null;
  const end = validUntil === undefined ? {} : { validUntil };
  return buildStatusListCredential({ id, issuer, validFrom, ...end, encodedList, ttlMs: ttl });
}

const CREDENTIAL_MEMBERS = ['@context', 'id', 'type', 'issuer', 'validFrom', 'credentialSubject'];
const SUBJECT_MEMBERS = ['id', 'type', 'statusPurpose', 'encodedList', 'ttl'];

/** Whether the object has every required own member, and no others except the optional ones. */
function isClosed(
  value: unknown,
  required: readonly string[],
  optional: readonly string[],
): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.keys(value);
  const known = members.every((member) => required.includes(member) || optional.includes(member));
  return known && required.every((member) => members.includes(member));
}

const isNonEmpty = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isExactly = (value: unknown, expected: readonly string[]): boolean =>
  Array.isArray(value) && value.length === expected.length && value.every((item, n) => item === expected[n]);

const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' && parseUtcTime(value) !== null;
