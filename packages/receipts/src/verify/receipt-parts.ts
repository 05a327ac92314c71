/** Parses the Receipt as given, an object or its text. Nothing is verified here. */

import { failure, member, plainObject, show } from '@svc/codec';
import { type JsonObject, parseStrictJson } from '@svc/protocol';
import type { Failure } from '../failure.ts';
import { RECEIPT_MAX_CHARS } from '../receipt.ts';
import { spliceReceipt } from '../receipt-text.ts';
import { type JwsParts, splitReceiptJws } from './receipt-jws.ts';

/** A parsed Receipt. Nothing in it is verified. */
export interface ReceiptParts {
  /** Null if there is none. */
  readonly jws: string | null;
  /** Null if the JWS cannot be split. */
  readonly parts: JwsParts | null;
  /** The other members; null if the text is exactly the payload with the JWS inserted. */
  readonly body: JsonObject | null;
}

/** Parses the Receipt. If it cannot, returns null and adds the faults to `failures`. */
export const readReceiptParts = (receipt: unknown, failures: Failure[]): ReceiptParts | null =>
  typeof receipt === 'string' ? readText(receipt, failures) : readObject(receipt, failures);

const readText = (text: string, failures: Failure[]): ReceiptParts | null => {
  const verbatim = readVerbatim(text);
  if (verbatim !== null) return verbatim;
  const refuse = (problem: string) => {
    failures.push(failure('malformed-receipt', `the Receipt must be strict JSON: ${problem}`, ''));
    return null;
  };
  if (text.length > RECEIPT_MAX_CHARS) return refuse(`longer than ${RECEIPT_MAX_CHARS} characters`);
  const json = parseStrictJson(text);
  if (json.ok) return readObject(json.value, failures);
  if (splitReceiptJws(text) !== null) return refuse('this is a JWS, pass the whole answer');
  return refuse(`${json.problem} at character ${json.offset}`);
};

const MEMBER = '"receipt":"';

/** Fast path without parsing, for exactly the text that the service returned; null for any other text. */
const readVerbatim = (text: string): ReceiptParts | null => {
  const start = text.indexOf(MEMBER) + MEMBER.length;
  const jws = text.slice(start, text.indexOf('"', start));
  const parts = splitReceiptJws(jws);
  return parts !== null && spliceReceipt(parts.payloadText, jws) === text ? { jws, parts, body: null } : null;
};

const readObject = (receipt: unknown, failures: Failure[]): ReceiptParts | null => {
  const own = plainObject(receipt);
  if (own === null) {
    const right = 'an object of plain JSON, nested no deeper than 32';
    failures.push(failure('malformed-receipt', `the Receipt must be ${right}, not ${show(receipt)}`, ''));
    return null;
  }
  const jws = member(own, 'receipt');
  if (typeof jws !== 'string') {
    const problem = jws === undefined ? failure('missing-member', '/receipt is missing', '/receipt') : null;
    failures.push(
      problem ?? failure('malformed-member', `/receipt must be a compact JWS, not ${show(jws)}`, '/receipt'),
    );
  }
  const { receipt: _, ...body } = own;
  return typeof jws === 'string'
    ? { jws, parts: splitReceiptJws(jws), body }
    : { jws: null, parts: null, body };
};
