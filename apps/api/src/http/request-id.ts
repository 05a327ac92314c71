/**
 * The id of a request (protocol §13): `Svc-Request-Id` on every answer. An `X-Request-ID` of 1 to 1,024 printable
 * characters is used as the id and echoed under that name too; any other is ignored.
 */
import { randomUUID } from 'node:crypto';
import { decodeUtf8 } from '@svc/protocol';

const MAX_CHARS = 1_024;
const PRINTABLE = new RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${MAX_CHARS}}$`, 'u');

export interface RequestId {
  /** The id as text, for logs and audit events. */
  readonly id: string;
  /** The id as a header value: one character for each byte. */
  readonly header: string;
  /** True when the caller chose it. */
  readonly received: boolean;
}

export const requestIdFor = (received: string | string[] | undefined): RequestId => {
  const id = typeof received === 'string' ? textOf(received) : null;
  if (typeof received === 'string' && id !== null && PRINTABLE.test(id))
    return { id, header: received, received: true };
  const made = randomUUID();
  return { id: made, header: made, received: false };
};

/**
 * Header values arrive as one character for each byte. Bytes that are not UTF-8 are read as Latin-1 (RFC 9110 §5.5).
 */
const textOf = (header: string): string => decodeUtf8(Buffer.from(header, 'latin1')) ?? header;
