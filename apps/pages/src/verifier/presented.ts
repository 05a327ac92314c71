/**
 * What somebody dropped or pasted, told apart by its form: a Receipt in any of the shapes in which the API hands it
 * out, a bundle, or a DID document. Nothing is believed yet.
 */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';

export type PresentedItem =
  | { readonly kind: 'receipt'; readonly receipt: unknown }
  | { readonly kind: 'bundle'; readonly bundle: JsonObject }
  | { readonly kind: 'did-document'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** The largest bundle there can be, in bytes. */
export const MAX_BUNDLE_BYTES = 16 * 1_048_576;

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export const readPresentedText = (raw: string): PresentedItem => {
  if (raw.length > MAX_BUNDLE_BYTES)
    return { kind: 'unreadable', problem: 'It is larger than 16 MB, and so than any bundle.' };
  const text = raw.trim();
  if (text === '') return { kind: 'unreadable', problem: 'There is nothing in it.' };
  if (COMPACT_JWS.test(text)) return readJws(text);
  // What is not strict JSON is a part of a Receipt like any other, for the verification to name.
  if (!text.startsWith('{')) return { kind: 'unreadable', problem: 'It is neither a JSON object nor a JWS.' };
  const parsed = parseStrictJson(text);
  return parsed.ok && isJsonObject(parsed.value)
    ? readObject(parsed.value, text)
    : { kind: 'receipt', receipt: text };
};

/** What the API answers, with 202, instead of the bundle of a day that is open. */
const stillOpen = (day: unknown): string =>
  `This is no bundle yet: the day ${typeof day === 'string' ? day : 'of the Receipt'} is not closed. Ask for the bundle again once it is, shortly after midnight UTC.`;

/** Members that a bundle has and a Receipt has not. */
const BUNDLE_ONLY = ['inclusion', 'checkpoint', 'did_document'];

/** The JWS alone is the whole Receipt: the rest of it is the payload, written out. */
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
  // A decision as the API shows and exports it: the Receipt with its outcome ledger.
  if (isJsonObject(value.receipt)) return { kind: 'receipt', receipt: value.receipt };
  return { kind: 'receipt', receipt: text };
};
