/** Answers that refuse a request, in the error format of the interface. */
import type { ReasonCode } from '@svc/protocol';
import type { RefusalCode } from '@svc/sdk-core';
import { BODY_FAULTS, type BodyFault } from './body-fault.ts';
import type { SignatureCheck } from './signature-check.ts';

/** The HTTP answer to a request that is not authorised. */
export interface Refusal {
  /**
   * - 401: Grant or Proof is missing.
   * - 403: a DENY, or a Proof for another request.
   * - 400, 413, 415: the request is malformed.
   * - 500: this server is misconfigured, or `action` returned no Action.
   * - 503: authority could not be verified.
   */
  status: 400 | 401 | 403 | 413 | 415 | 500 | 503;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  /** The body as JSON. `reason` says why the answer is 403; `receipt_id` names the Receipt of a DENY. */
  body: { error: RefusalCode; message: string; reason?: ReasonCode | RefusalCode; receipt_id?: string };
}

/** The answer that replaces the handler's own. */
export interface Refused {
  ok: false;
  refusal: Refusal;
}

export const refuse = (
  status: Refusal['status'],
  error: RefusalCode,
  message: string,
  headers = {},
): Refused => ({
  ok: false,
  refusal: {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: { error, message },
  },
});

export const forbid = (
  message: string,
  reason: ReasonCode | RefusalCode,
  receiptId: string | null,
): Refused => {
  const refusal = refuse(403, 'FORBIDDEN', message).refusal;
  const receipt = receiptId === null ? {} : { receipt_id: receiptId };
  return { ok: false, refusal: { ...refusal, body: { ...refusal.body, reason, ...receipt } } };
};

/** As draft-ietf-webbotauth-httpsig-protocol specifies: 403, and what to sign. */
export const refuseUnsigned = ({ accepts }: SignatureCheck, fault: string): Refused => {
  const message = `the request must be signed by the key of its Proof: ${fault}`;
  const { refusal } = refuse(403, 'FORBIDDEN', message, { 'accept-signature': accepts });
  return { ok: false, refusal: { ...refusal, body: { ...refusal.body, reason: 'SIGNATURE_REQUIRED' } } };
};

/** The answer to a body that cannot be read. */
export const refuseBody = (fault: BodyFault): Refused => {
  const { status, message } = BODY_FAULTS[fault];
  return refuse(status, status === 500 ? 'CONFIGURATION' : CODES[status], message);
};

const CODES = { 400: 'INVALID_REQUEST', 413: 'PAYLOAD_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE' } as const;
