/**
 * A Receipt's JWS, to the byte. Its parts are stored decoded where encoding them again gives the same text, which holds for
 * whatever the service signs: decoded they take a quarter less, and any engine reads the payload as JSON. Any other text
 * is stored as it is.
 */
import { decodeBase64url, decodeBase64urlText, encodeBase64urlText } from '@svc/protocol';
import type { ReceiptRow, Stored } from './schema.ts';

type Parts = Pick<Stored<'receipts'>, 'header' | 'payload' | 'signature' | 'jws'>;

export const storeReceipt = ({ jws, ...row }: ReceiptRow): Stored<'receipts'> => ({ ...row, ...split(jws) });

export const readReceipt = ({ header, payload, signature, jws, ...row }: Stored<'receipts'>): ReceiptRow => ({
  ...row,
  jws: join({ header, payload, signature, jws }),
});

const split = (jws: string): Parts => {
  const [header, payload, signature, more] = jws.split('.');
  const parts = {
    header: decodeBase64urlText(header ?? ''),
    payload: decodeBase64urlText(payload ?? ''),
    signature: decodeBase64url(signature ?? ''),
  };
  const isWhole =
    more === undefined && signature !== undefined && Object.values(parts).every((part) => part !== null);
  return isWhole ? { ...parts, jws: null } : { header: null, payload: null, signature: null, jws };
};

const join = ({ header, payload, signature, jws }: Parts): string => {
  if (jws !== null) return jws;
  if (header === null || payload === null || signature === null) throw new Error('a Receipt without its JWS');
  return `${encodeBase64urlText(header)}.${encodeBase64urlText(payload)}.${Buffer.from(signature).toString('base64url')}`;
};
