/** The Receipt on the wire: the body that the engine builds, and the JWS over it (interface §Receipt). */
import type { ReceiptBody } from '@svc/protocol';

/** The `typ` of a Receipt's protected header. */
export const RECEIPT_TYP = 'svc-receipt+jwt';
/** Enough for every Receipt: a Grant has at most 16,384 characters, which bounds what a Receipt repeats of it. */
export const RECEIPT_JWS_MAX_CHARS = 65_536;
/** Length as JSON text, including white space. */
export const RECEIPT_MAX_CHARS = 1_048_576;

/** The service's statement about one decision. `receipt` is the compact JWS over the other members in RFC 8785 form. */
export type Receipt = ReceiptBody & { readonly receipt: string };
