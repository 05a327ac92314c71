/**
 * Verifies the status list that a Receipt names: a JWS by the service's `#status-<n>` key (interface §Rules, protocol
 * §9). The revocation bit is read from the list.
 */

import { failure, member, show } from '@svc/codec';
import { type CryptoPort, type JsonObject, parseCompactJws, type ReceiptBody } from '@svc/protocol';
import {
  decodeBitstring,
  getBit,
  parseStatusListCredential,
  type StatusListCredential,
} from '@svc/status-list';
import type { ServiceKeys } from '@svc/transparency/service-keys';
import type { Failure } from '../failure.ts';

/** Enough for an incompressible list of 8,388,608 entries, base64url-encoded twice. */
const STATUS_LIST_MAX_CHARS = 2_600_000;

export interface StatusEntry {
  readonly revoked: boolean;
  readonly validFrom: string;
}

export type StatusListFailure = Failure<'wrong-status-list' | 'unknown-key'>;

const AT = '/evidence/status/credential_hash';

type NamedList = NonNullable<ReceiptBody['evidence']['status']>;

/** The entry that `status` names, read from the list's text; or what is wrong with the list. */
export const readStatusEntry = (
  text: string,
  status: NamedList,
  keys: ServiceKeys,
  crypto: CryptoPort,
): StatusEntry | StatusListFailure => {
  const refuse = (problem: string): StatusListFailure =>
    failure('wrong-status-list', `the status list ${problem}`, AT);
  const jws = parseCompactJws(text, STATUS_LIST_MAX_CHARS);
  if (!jws.ok) return refuse(`must be a compact JWS: ${jws.problem}`);
  const kid = readKid(jws.header);
  if (kid === null)
    return refuse(`must have exactly the header alg EdDSA, kid and typ vc+jwt, not ${show(jws.header)}`);
  // Without a time: the Receipt names the list by its hash, so this is the list that the service read, even if its key
  // has been replaced or compromised since.
  const wrong = keys.check('status', { ...jws, kid, signedAtMs: null }, crypto);
  // The document may be older than the key, so an unknown key is not a wrong list.
  if (wrong?.code === 'unknown-key') return failure(wrong.code, `the status list: ${wrong.message}`, AT);
  if (wrong !== null) return refuse(`is not signed by the service: ${wrong.message}`);
  const list = parseStatusListCredential(jws.payload);
  if (list === null) return refuse('must be a BitstringStatusListCredential for revocation');
  const problem = findProblem(list, status, keys);
  return problem === null ? readEntry(list, status, refuse) : refuse(problem);
};

const readKid = (header: JsonObject): string | null => {
  const kid = member(header, 'kid');
  const exact =
    Object.keys(header).length === 3 &&
    member(header, 'alg') === 'EdDSA' &&
    member(header, 'typ') === 'vc+jwt';
  return exact && typeof kid === 'string' ? kid : null;
};

const findProblem = (list: StatusListCredential, status: NamedList, { did }: ServiceKeys): string | null => {
  if (list.issuer !== did) return `must be issued by ${did}, not by ${show(list.issuer)}`;
  if (list.id !== status.credential_url)
    return `must be the one at ${status.credential_url}, not at ${show(list.id)}`;
  const checkedAtMs = Date.parse(status.checked_at);
  if (list.validUntil !== undefined && Date.parse(list.validUntil) <= checkedAtMs)
    return `must have been valid at ${status.checked_at}; it ended at ${list.validUntil}`;
  return null;
};

const readEntry = (
  list: StatusListCredential,
  { status_list_index: index }: NamedList,
  refuse: (problem: string) => StatusListFailure,
): StatusEntry | StatusListFailure => {
  const bits = decodeBitstring(list.credentialSubject.encodedList);
  if (bits === null) return refuse('must hold gzipped bits as multibase base64url');
  if (Number(index) >= bits.length * 8) return refuse(`must have an entry ${index}`);
  return { revoked: getBit(bits, Number(index)), validFrom: list.validFrom };
};
