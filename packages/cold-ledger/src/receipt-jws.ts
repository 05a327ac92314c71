/**
 * Stores a Receipt's JWS so that it can be restored to the byte. Its parts are stored decoded if encoding them again
 * gives the same text, which holds for everything that the service signs. Decoded they take a quarter less, and any
 * engine can read the payload as JSON. Any other text is stored as it is.
 */
import { isUtf8 } from 'node:buffer';
import { decodeBase64urlText, encodeBase64urlText } from '@svc/protocol';
import { receiptTextOfStored, spliceReceipt } from '@svc/receipts';
import type { ExportedForm } from '@svc/service';
import type { ReceiptRow, Stored } from './schema.ts';

export type Parts = Pick<Stored<'receipts'>, 'header' | 'payload' | 'signature' | 'jws'>;

export const storeReceipt = ({ jws, ...row }: ReceiptRow): Stored<'receipts'> => ({ ...row, ...split(jws) });

export const readReceipt = ({ header, payload, signature, jws, ...row }: Stored<'receipts'>): ReceiptRow => ({
  ...row,
  jws: joinReceipt({ header, payload, signature, jws }),
});

const split = (jws: string): Parts => {
  const parts = jws.split('.');
  const header = decodeBase64urlText(parts[0] ?? '');
  const [payload, signature] = [decode(parts[1] ?? ''), decode(parts[2] ?? '')];
  if (parts.length !== 3 || header === null || payload === null || signature === null || !isUtf8(payload))
    return { header: null, payload: null, signature: null, jws };
  return { header, payload, signature, jws: null };
};

/** Null: encoding the bytes again would give another text. */
const decode = (text: string): Uint8Array | null => {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
};

/** Throws for parts that `storeReceipt` never makes. */
export const joinReceipt = ({ header, payload, signature, jws }: Parts): string => {
  if (jws !== null) return jws;
  if (header === null || payload === null || signature === null) throw new Error('a Receipt without its JWS');
  if (!isUtf8(payload)) throw new Error('a Receipt whose payload is no text');
  return `${encodeBase64urlText(header)}.${encode(payload)}.${encode(signature)}`;
};

/**
 * A Receipt in one of these forms, as Latin-1: each byte of its UTF-8 form is a character, since text that is only
 * copied need not be decoded. Null if it is no Receipt. Throws as `joinReceipt` does.
 */
export const latin1Text = (parts: Parts, form: ExportedForm): string | null => {
  const { payload, jws: stored } = parts;
  const jws = joinReceipt(parts);
  if (stored !== null || payload === null) {
    const text = exportedText(jws, form);
    return text && latin1Of(Buffer.from(text));
  }
  return form === 'jws' ? exportedText(jws, form) : spliceReceipt(latin1Of(payload), jws);
};

/** The header is an object with members, so the text begins with `ey`, which no spreadsheet takes for a formula. */
const COMPACT_JWS = /^ey[\w-]+\.[\w-]+\.[\w-]+$/;

/** A Receipt in one of these forms, from its JWS. Null if it is no Receipt. */
export const exportedText = (jws: string, form: ExportedForm): string | null => {
  if (form === 'text') return receiptTextOfStored(jws);
  return COMPACT_JWS.test(jws) ? jws : null;
};

const latin1Of = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('latin1');

const encode = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('base64url');
