/** The Receipt as handed in, an object or its text, before anything about it is believed. */

import { failure, member, show } from '@svc/codec';
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import type { Failure } from '../failure.ts';
import { RECEIPT_MAX_CHARS } from '../receipt.ts';
import { spliceReceipt } from '../receipt-text.ts';
import { type JwsParts, splitReceiptJws } from './receipt-jws.ts';

export interface Presented {
  /** Null where there is none. */
  readonly jws: string | null;
  /** Null where the JWS cannot be split. */
  readonly parts: JwsParts | null;
  /** The members beside `receipt`; null where the text is letter for letter the payload with the JWS spliced in. */
  readonly body: JsonObject | null;
}

/** Reads the Receipt, or null with what is wrong in `failures`. */
export const readPresented = (receipt: unknown, failures: Failure[]): Presented | null =>
  typeof receipt === 'string' ? readText(receipt, failures) : readObject(receipt, failures);

const readText = (text: string, failures: Failure[]): Presented | null => {
  const verbatim = readVerbatim(text);
  if (verbatim !== null) return verbatim;
  const refuse = (problem: string) => {
    failures.push(failure('malformed-receipt', `the Receipt must be strict JSON: ${problem}`, ''));
    return null;
  };
  if (text.length > RECEIPT_MAX_CHARS) return refuse(`longer than ${RECEIPT_MAX_CHARS} characters`);
  const json = parseStrictJson(text);
  return json.ok ? readObject(json.value, failures) : refuse(`${json.problem} at character ${json.offset}`);
};

const MEMBER = '"receipt":"';

/** The usual case without parsing: the text that the service answered. Wherever the guess is wrong, null. */
const readVerbatim = (text: string): Presented | null => {
  const start = text.indexOf(MEMBER) + MEMBER.length;
  const jws = text.slice(start, text.indexOf('"', start));
  const parts = splitReceiptJws(jws);
  return parts !== null && spliceReceipt(parts.payloadText, jws) === text ? { jws, parts, body: null } : null;
};

const readObject = (receipt: unknown, failures: Failure[]): Presented | null => {
  if (!isJsonObject(receipt)) {
    failures.push(failure('malformed-receipt', `the Receipt must be an object, not ${show(receipt)}`, ''));
    return null;
  }
  const jws = member(receipt, 'receipt');
  if (typeof jws !== 'string') {
    const problem = jws === undefined ? failure('missing-member', '/receipt is missing', '/receipt') : null;
    failures.push(
      problem ?? failure('malformed-member', `/receipt must be a compact JWS, not ${show(jws)}`, '/receipt'),
    );
  }
  const { receipt: _, ...body } = receipt;
  return typeof jws === 'string'
    ? { jws, parts: splitReceiptJws(jws), body }
    : { jws: null, parts: null, body };
};
