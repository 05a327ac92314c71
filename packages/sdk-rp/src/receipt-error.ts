/** An error about one decision of the service, with the Receipt that it is about. */
import { isReceiptId } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';
import type { ReceiptFailure } from './receipt-failure.ts';

/** `instanceof` asks for this mark and not for the class, so it knows errors of another copy of the package. */
const MARK = Symbol.for('@svc/ReceiptError');

/**
 * A decision that came to nothing here: `receipt-invalid`, since what came cannot be trusted; or `aborted`, since the call of
 * a tool was cancelled once it was allowed. The service may have spent the Proof and drawn the budget for it.
 */
export class ReceiptError extends SvcError {
  /** The Receipt that came, where its signature has been verified, by a key in force; else null. */
  readonly receipt: Receipt | null;
  /** The id in what came, `drc_…`, which nobody has verified where `receipt` is null. Null where it has none. */
  readonly receiptId: string | null;
  constructor(
    kind: 'receipt-invalid' | 'aborted',
    message: string,
    about: { readonly receipt: Receipt | null; readonly receiptId: string | null; readonly cause?: unknown },
  ) {
    super(kind, message, { cause: about.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.receipt = about.receipt;
    this.receiptId = about.receiptId;
  }

  /** A class that extends it is asked as any other. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is which class asks
    const asked = this as object;
    if (asked !== ReceiptError) return Function.prototype[Symbol.hasInstance].call(asked, value);
    return typeof value === 'object' && value !== null && MARK in value;
  }
}

/** `genuine`: what came, where its signature is right. */
export function receiptInvalid(
  came: unknown,
  genuine: Receipt | null,
  failures: readonly ReceiptFailure[],
): ReceiptError {
  const { receipt_id: id } = Object(came) as { receipt_id?: unknown };
  const receiptId = isReceiptId(id) ? id : null;
  const which = receiptId === null ? 'the Receipt' : `the Receipt ${receiptId}`;
  const what = failures.map(({ code, message }) => `${message} (${code})`).join('; ');
  const about = { receipt: genuine, receiptId, cause: failures };
  return new ReceiptError('receipt-invalid', `${which} cannot be trusted: ${what}`, about);
}
