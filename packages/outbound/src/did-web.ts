/**
 * did:web resolution for hosted Principals (did:web Method §3.2, protocol §13).
 *
 * A result that the host itself determines is `invalid`. A result that only prevents the service from asking is
 * `unreachable`:
 *
 * | answer                                                        | resolution  |
 * |---------------------------------------------------------------|-------------|
 * | 200 with a document of this DID                                | resolved    |
 * | 200 with anything else, or more than 64 KB                     | invalid     |
 * | any other 1xx–4xx (redirects are not followed), except:        | invalid     |
 * | 408, 425, 429, every 5xx                                       | unreachable |
 * | a DID that no policy lets us ask for (port, special-use name)  | invalid     |
 * | DNS, connection, TLS, HTTP or coding faults, deadline, busy    | unreachable |
 * | an address that is not public (DNS may say otherwise tomorrow) | unreachable |
 */
import {
  type CryptoPort,
  type DidDocument,
  type DidWeb,
  decodeUtf8,
  didWebDocumentUrl,
  encodeMultikey,
  isJsonObject,
  parseDidWeb,
  parseJsonOfAnyNumbers,
  readDidDocument,
} from '@svc/protocol';
import type { Answered, OutboundAnswer } from './answers.ts';
import type { Outbound } from './outbound.ts';

export interface ResolvedKey {
  /** Absolute DID URL under the DID itself. */
  readonly kid: string;
  readonly publicKeyMultibase: string;
}

export type Resolution =
  | {
      readonly kind: 'resolved';
      /** The document exactly as served. */
      readonly text: string;
      /** The content type from the host, in lower case, if it is a JSON type. */
      readonly contentType: string | null;
      readonly document: DidDocument;
      /** Usable Ed25519 assertion keys, strict ones only, in the document's order. The list may be empty. */
      readonly keys: readonly ResolvedKey[];
    }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'unreachable'; readonly problem: string };

/** The form of a key id: the DID, and a fragment of RFC 3986 characters. Other ids could not be a Grant's `kid`. */
const FRAGMENT = /^#[A-Za-z0-9._~!$&'()*+,;=:@/?-]{1,256}$/;
const ACCEPT = 'application/did+json, application/json;q=0.9';

type KeyCheck = Pick<CryptoPort, 'isStrictKey'>;

export const resolveDidWeb = async (
  outbound: Outbound,
  crypto: KeyCheck,
  did: DidWeb,
): Promise<Resolution> => {
  const parsed = parseDidWeb(did);
  if (parsed === null) return invalid('not a did:web DID');
  const answer = await outbound.get(didWebDocumentUrl(parsed), { accept: ACCEPT });
  if (answer.kind !== 'answered') return notAnswered(answer);
  if (answer.status === 200) return parseDocument(answer, crypto, did);
  const problem = `the host answered ${answer.status}`;
  return isServerFailure(answer.status) ? { kind: 'unreachable', problem } : invalid(problem);
};

/** Statuses that mean "not now" and not "no". */
export const isServerFailure = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;

const invalid = (problem: string): Resolution => ({ kind: 'invalid', problem });

const notAnswered = (answer: Exclude<OutboundAnswer, { kind: 'answered' }>): Resolution => {
  const decided = answer.kind === 'refused' ? answer.rule !== 'address' : answer.fault === 'too-large';
  return { kind: decided ? 'invalid' : 'unreachable', problem: answer.why };
};

const parseDocument = ({ body, contentType }: Answered, crypto: KeyCheck, did: DidWeb): Resolution => {
  const text = decodeUtf8(body);
  if (text === null) return invalid('the document is not UTF-8');
  const json = parseJsonOfAnyNumbers(text);
  if (!json.ok) return invalid(`the document is not strict JSON: ${json.problem} at ${json.offset}`);
  if (!isJsonObject(json.value)) return invalid('the document is not a JSON object');
  const document = readDidDocument(json.value, did);
  if (document === null) return invalid('the id of the document is not the DID');
  const candidates = candidatesOf(document);
  if (candidates.length > MAX_CANDIDATES)
    return invalid(`the document lists more than ${MAX_CANDIDATES} Ed25519 keys for assertions`);
  const keys = usableKeys(candidates, crypto);
  if (keys.length > MAX_KEYS) return invalid(`the document lists more than ${MAX_KEYS} usable keys`);
  return { kind: 'resolved', text, contentType: jsonTypeOf(contentType), document, keys };
};

const JSON_FAMILY = /^application\/(?:[a-z0-9][a-z0-9.+_-]{0,99}\+)?json(?:; *charset=utf-8)?$/;

const jsonTypeOf = (contentType: string | null): string | null => {
  const type = contentType?.trim().toLowerCase() ?? '';
  return JSON_FAMILY.test(type) ? type : null;
};

/** Every key is stored for ever once seen, so a document may not contain any number of keys. */
const MAX_KEYS = 32;
/** Without libsodium, checking a key, strict or not, takes a millisecond of this process. */
const MAX_CANDIDATES = 64;
const KEY_BYTES = 32;

type Candidate = readonly [kid: string, publicKey: Uint8Array];

/** The keys that a Grant can name. Keys of other kinds and unreadable keys are left out. */
const candidatesOf = ({ id, assertionKeys }: DidDocument): readonly Candidate[] =>
  [...assertionKeys].filter(
    ([kid, publicKey]) =>
      publicKey.length === KEY_BYTES && kid.startsWith(id) && FRAGMENT.test(kid.slice(id.length)),
  );

/** Stops at one key above the limit. */
const usableKeys = (candidates: readonly Candidate[], crypto: KeyCheck): ResolvedKey[] => {
  const keys: ResolvedKey[] = [];
  for (const [kid, publicKey] of candidates) {
    if (crypto.isStrictKey(publicKey)) keys.push({ kid, publicKeyMultibase: encodeMultikey(publicKey) });
    if (keys.length > MAX_KEYS) break;
  }
  return keys;
};
