/**
 * The name of a request (protocol §13): `Svc-Request-Id` on every answer. An `X-Request-ID` of 1 to 128 printable
 * ASCII characters is taken over and echoed under that name too; any other is ignored.
 */
import { randomUUID } from 'node:crypto';

const ACCEPTABLE = /^[\x20-\x7e]{1,128}$/;

export interface RequestId {
  readonly id: string;
  /** True when the caller chose it. */
  readonly received: boolean;
}

export const requestIdFor = (received: string | string[] | undefined): RequestId =>
  typeof received === 'string' && ACCEPTABLE.test(received)
    ? { id: received, received: true }
    : { id: randomUUID(), received: false };
