/** An error about one decision of the service, with the decision's Receipt. */
import { isMarked } from '@svc/codec';
import { isReceiptId } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';
import type { ReceiptFailure } from './receipt-failure.ts';

/** `instanceof` tests for this mark instead of the class, so it recognises errors of another copy of the package. */
const MARK = Symbol.for('@svc/ReceiptError');

/**
 * A decision that the caller must not act on. `receipt-invalid`: the Receipt that came cannot be trusted. `aborted`:
 * the call of a tool was cancelled after it was allowed. The service may have spent the Proof and drawn the budget.
 */
export class ReceiptError extends SvcError {
  /** The Receipt that came, if its signature was verified with a key in force; else null. */
  readonly receipt: Receipt | null;
  /** The id in the Receipt that came, `drc_…`, or null if it has none. Not verified where `receipt` is null. */
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

  /** A subclass keeps the default `instanceof`. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is which class asks
    return isMarked(this, ReceiptError, MARK, value);
  }
}

/** `genuine`: the Receipt that came, if its signature is valid. */
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
