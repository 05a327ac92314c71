/**
 * The evidence in a bundle: answers of `GET /evidence/{hash}`, each artifact with its hash. The hash determines the
 * encoding of `body`: UTF-8 text, or base64url if the text has another hash.
 */

import { failure, member, show } from '@svc/codec';
import {
  type CryptoPort,
  decodeBase64url,
  decodeUtf8,
  isJsonObject,
  isSha256,
  type ReceiptBody,
  sha256Of,
} from '@svc/protocol';
import type { Failure } from '../failure.ts';
import type { BundleFailureCode } from './failure.ts';

/** One artifact as it stands in the JSON. */
export interface EvidenceItem {
  /** `sha256:…` over the bytes. */
  readonly hash: string;
  readonly content_type: string;
  /** The text, or the bytes in base64url without padding. */
  readonly body: string;
}

type Failures = Failure<BundleFailureCode>[];

/** The maximum number of items of `evidence`; a bundle of the service has at most four. */
const MAX_ITEMS = 16;

/** Checks every artifact, and that every artifact named by the Receipt is present. Returns the texts by hash. */
export const checkEvidence = (
  evidence: unknown,
  receipt: ReceiptBody | null,
  crypto: CryptoPort,
  failures: Failures,
): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  if (!Array.isArray(evidence)) {
    failures.push(
      failure('malformed-member', `/evidence must be an array, not ${show(evidence)}`, '/evidence'),
    );
    return texts;
  }
  if (evidence.length > MAX_ITEMS) {
    failures.push(
      failure(
        'malformed-member',
        `/evidence must have at most ${MAX_ITEMS} items, not ${evidence.length}`,
        '/evidence',
      ),
    );
    return texts;
  }
  const hashes = new Set<string>();
  evidence.forEach((item: unknown, i) => {
    const checked = checkItem(item, `/evidence/${i}`, crypto, failures);
    if (checked === null) return;
    hashes.add(checked.hash);
    if (checked.text !== null) texts.set(checked.hash, checked.text);
  });
  for (const { hash, what, path } of receipt === null ? [] : listNamed(receipt))
    if (!hashes.has(hash))
      failures.push(failure('missing-evidence', `${what} ${hash} is not in the bundle`, path));
  return texts;
};

interface Checked {
  readonly hash: string;
  /** Null if not UTF-8. */
  readonly text: string | null;
}

const checkItem = (item: unknown, path: string, crypto: CryptoPort, failures: Failures): Checked | null => {
  const [hash, type, body] = isJsonObject(item)
    ? [member(item, 'hash'), member(item, 'content_type'), member(item, 'body')]
    : [];
  if (!isSha256(hash) || typeof type !== 'string' || typeof body !== 'string') {
    const right = 'an object with hash, content_type and body';
    failures.push(failure('malformed-member', `${path} must be ${right}, not ${show(item)}`, path));
    return null;
  }
  if (sha256Of(crypto, body) === hash) return { hash, text: body };
  const bytes = decodeBase64url(body);
  if (bytes !== null && sha256Of(crypto, bytes) === hash) return { hash, text: decodeUtf8(bytes) };
  failures.push(
    failure(
      'wrong-evidence',
      `${path} has hash ${sha256Of(crypto, bytes ?? body)}, not ${hash}`,
      `${path}/body`,
    ),
  );
  return null;
};

/** The public evidence of a Receipt. Balances are not public, so they are not included. */
const listNamed = ({ evidence: { issuer_resolution: resolution, status } }: ReceiptBody) => [
  ...(resolution === undefined
    ? []
    : [
        {
          hash: resolution.did_document_hash,
          what: "the issuer's DID document",
          path: '/receipt/evidence/issuer_resolution/did_document_hash',
        },
      ]),
  ...(status === undefined
    ? []
    : [
        {
          hash: status.credential_hash,
          what: 'the status list',
          path: '/receipt/evidence/status/credential_hash',
        },
      ]),
];
