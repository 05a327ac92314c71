/**
 * The text of a Receipt: its body in RFC 8785 form with the JWS inserted in order. The body is serialised once, and the
 * text can be rebuilt from the JWS.
 */
import { readPayload, splitReceiptJws } from './verify/receipt-jws.ts';

/** The member after `receipt`. No free text follows it, so its last occurrence is the member itself. */
const NEXT_MEMBER = ',"receipt_id":';

/**
 * The response text; null if `bodyText` is not the text of a body. `jws` contains no character that JSON would escape.
 * The inserted text is ASCII, so a body of UTF-8 bytes that are given as Latin-1 is returned the same way.
 */
export const spliceReceipt = (bodyText: string, jws: string): string | null => {
  const at = bodyText.lastIndexOf(NEXT_MEMBER);
  return at < 0 ? null : `${bodyText.slice(0, at)},"receipt":"${jws}"${bodyText.slice(at)}`;
};

/**
 * The response text of a Receipt, from its JWS: byte for byte the answer that was given when it was signed. Null if the
 * text is not a JWS over the body of a Receipt. Verifies nothing.
 */
export const receiptTextOf = (jws: string): string | null => {
  const parts = typeof jws === 'string' ? splitReceiptJws(jws) : null;
  if (parts === null || readPayload(parts.payloadText, []) === null) return null;
  return spliceReceipt(parts.payloadText, jws);
};

/**
 * The same for a JWS that the caller itself signed and stored: the payload is not parsed, which is faster for large
 * lists.
 */
export const receiptTextOfStored = (jws: string): string | null => {
  const parts = splitReceiptJws(jws);
  return parts === null ? null : spliceReceipt(parts.payloadText, jws);
};
