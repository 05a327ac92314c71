/**
 * Parses the JWS of a Receipt. A given body, kid and key have exactly one serialisation (protocol §1, §8), and no other
 * is accepted: header and payload must be in RFC 8785 form, which excludes duplicate members and other spellings of
 * strings and numbers. The signature is not checked here.
 */

import { decodeBase64urlText, failure, member, show } from '@svc/codec';
import { decodeBase64url, isJsonObject, type JsonObject, type JsonValue } from '@svc/protocol';
import { canonicalTextOrNull } from '../canonical.ts';
import type { Failure } from '../failure.ts';
import { RECEIPT_JWS_MAX_CHARS, RECEIPT_TYP } from '../receipt.ts';

export interface JwsParts {
  readonly headerText: string;
  readonly payloadText: string;
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** Splits and decodes; null unless there are three parts in canonical base64url, the first two of them UTF-8. */
export const splitReceiptJws = (jws: string): JwsParts | null => {
  if (jws.length > RECEIPT_JWS_MAX_CHARS) return null;
  const firstDot = jws.indexOf('.');
  const lastDot = jws.lastIndexOf('.');
  if (firstDot === lastDot) return null;
  const headerText = decodeBase64urlText(jws.slice(0, firstDot));
  // With a fourth part, this one contains a dot, which is not a base64url character.
  const payloadText = decodeBase64urlText(jws.slice(firstDot + 1, lastDot));
  const signature = decodeBase64url(jws.slice(lastDot + 1));
  if (headerText === null || payloadText === null || signature === null) return null;
  return { headerText, payloadText, signingInput: jws.slice(0, lastDot), signature };
};

/** The kid; null if there is none. Faults of the header are added to `failures`. */
export const readKid = (headerText: string, failures: Failure[]): string | null => {
  const header = parseOrNull(headerText);
  const kid = header === null ? undefined : member(header, 'kid');
  const isText = typeof kid === 'string';
  if (!isText || headerText !== `{"alg":"EdDSA","kid":${JSON.stringify(kid)},"typ":"${RECEIPT_TYP}"}`)
    failures.push(
      failure(
        'wrong-header',
        `the protected header must be exactly {"alg":"EdDSA","kid":"<kid>","typ":"${RECEIPT_TYP}"}, not ${show(headerText)}`,
        '/receipt',
      ),
    );
  return isText ? kid : null;
};

/** The signed body; null with a failure if the payload is not in RFC 8785 form. */
export const readPayload = (
  payloadText: string,
  failures: Failure[],
  knownCanonical = false,
): JsonObject | null => {
  const body = parseOrNull(payloadText);
  if (body !== null && (knownCanonical || canonicalTextOrNull(body) === payloadText)) return body;
  failures.push(
    failure('payload-not-canonical', 'the payload must be the RFC 8785 form of a JSON object', '/receipt'),
  );
  return null;
};

const parseOrNull = (text: string): JsonObject | null => {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
};
