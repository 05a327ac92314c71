/**
 * Recognises what the user dropped or pasted by its form: a Receipt in any of the shapes in which the API answers it, a
 * bundle, or a DID document. Nothing is verified yet.
 */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';

export type PresentedItem =
  | { readonly kind: 'receipt'; readonly receipt: unknown }
  | { readonly kind: 'bundle'; readonly bundle: JsonObject }
  | { readonly kind: 'did-document'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Size of the largest possible bundle, in bytes. */
export const MAX_BUNDLE_BYTES = 16 * 1_048_576;

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export const readPresentedText = (raw: string): PresentedItem => {
  if (raw.length > MAX_BUNDLE_BYTES)
    return { kind: 'unreadable', problem: 'It is larger than 16 MB, and so than any bundle.' };
  const text = raw.trim();
  if (text === '') return { kind: 'unreadable', problem: 'There is nothing in it.' };
  if (COMPACT_JWS.test(text)) return readJws(text);
  // A text that is not strict JSON goes to the verification like any other Receipt, which names the faulty part.
  if (!text.startsWith('{')) return { kind: 'unreadable', problem: 'It is neither a JSON object nor a JWS.' };
  const parsed = parseStrictJson(text);
  return parsed.ok && isJsonObject(parsed.value)
    ? readObject(parsed.value, text)
    : { kind: 'receipt', receipt: text };
};

/** What to say about the 202 that the API answers in place of the bundle of an open day. */
const stillOpen = (day: unknown): string =>
  `This is no bundle yet: the day ${typeof day === 'string' ? day : 'of the Receipt'} is not closed. Ask for the bundle again once it is, shortly after midnight UTC.`;

/** Members that a bundle has and a Receipt does not. */
const BUNDLE_ONLY = ['inclusion', 'checkpoint', 'did_document'];

/** The JWS alone is a whole Receipt: the other members repeat its payload. */
const readJws = (jws: string): PresentedItem => {
  const text = receiptTextOf(jws);
  return text === null
    ? { kind: 'unreadable', problem: 'It looks like a signed text (JWS), but it is not that of a Receipt.' }
    : { kind: 'receipt', receipt: text };
};

const readObject = (value: JsonObject, text: string): PresentedItem => {
  if ('verificationMethod' in value && !('receipt' in value)) return { kind: 'did-document', text };
  if (BUNDLE_ONLY.some((name) => name in value)) return { kind: 'bundle', bundle: value };
  if (value.status === 'pending' && !('receipt' in value))
    return { kind: 'unreadable', problem: stillOpen(value.day) };
  // A decision as the API answers and exports it: the Receipt with its outcome ledger.
  if (isJsonObject(value.receipt)) return { kind: 'receipt', receipt: value.receipt };
  return { kind: 'receipt', receipt: text };
};
