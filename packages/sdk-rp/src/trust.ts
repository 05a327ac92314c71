/** Checks Receipts with the keys of the service's document, and with a newer document if the kept one lacks the key. */
import { type CryptoPort, type JsonValue, portableCrypto } from '@svc/codec';
import { type Receipt, type ServiceKeys, type VerifiedReceipt, verifyReceipt } from '@svc/receipts';
import { type IncludedReceipt, verifyIncludedReceipt } from '@svc/receipts/inclusion';
import type { WholeCall } from '@svc/sdk-core';
import type { ClockDifference } from './answer-window.ts';
import { receiptInvalid } from './receipt-error.ts';
import type { ReceiptFailure } from './receipt-failure.ts';
import type { ServiceDocument } from './service-document.ts';

export interface Trust {
  readonly documents: ServiceDocument;
  readonly serviceDid: string | undefined;
  /** Receipts for another relying party are refused. */
  readonly relyingParty: string | undefined;
  readonly crypto: CryptoPort | undefined;
  readonly clock: { readonly nowMs: () => number; readonly difference: ClockDifference };
}

/** What the checks of one call use. */
export interface CheckedCall {
  readonly whole: WholeCall;
  readonly trust: Trust;
  /** Keys of the service's document at the beginning of the call. */
  readonly keys: ServiceKeys;
}

/** Checks again with a newer document if the kept one lacks the key, as after a rotation. */
export async function checkWithRenewal<
  Check extends { ok: true } | { ok: false; failures: readonly ReceiptFailure[] },
>({ whole, trust, keys }: CheckedCall, check: (keys: ServiceKeys) => Check): Promise<Check> {
  const first = check(keys);
  if (first.ok || !first.failures.some(({ code }) => code === 'unknown-key')) return first;
  const newer = await whole.wait(() => trust.documents.renew(keys));
  return newer === null ? first : check(newer);
}

/** What vouches for a Receipt whose key is no longer in force: answers of the service, not checked yet. */
export interface Voucher {
  readonly inclusion: JsonValue;
  readonly attestation: JsonValue | undefined;
}

/**
 * The Receipt of an earlier decision, if it is genuine and the requested one. `findVoucher` is called only if the
 * Receipt's key is no longer in force; it returns null if no voucher exists yet.
 * @throws SvcError `receipt-invalid`
 */
export async function checkStoredReceipt(
  call: CheckedCall,
  { receiptId, receipt }: { readonly receiptId: string; readonly receipt: JsonValue },
  findVoucher: () => Promise<Voucher | null>,
): Promise<Receipt> {
  const { serviceDid, relyingParty, crypto = portableCrypto } = call.trust;
  const options = serviceDid === undefined ? { crypto } : { crypto, serviceDid };
  let checked: VerifiedReceipt | IncludedReceipt = await checkWithRenewal(call, (document) =>
    verifyReceipt(receipt, document, options),
  );
  const isUntimely = !checked.ok && checked.failures.every(({ code }) => code === 'key-not-in-force');
  const voucher = isUntimely ? await findVoucher() : null;
  if (voucher !== null)
    checked = await checkWithRenewal<IncludedReceipt>(call, (serviceDidDocument) =>
      verifyIncludedReceipt({ receipt, ...voucher, serviceDidDocument, ...options }),
    );
  if (!checked.ok) throw receiptInvalid(receipt, null, checked.failures);
  const isOurs = relyingParty === undefined || checked.receipt.relying_party === relyingParty;
  if (checked.receipt.receipt_id !== receiptId || !isOurs) {
    const failure = { code: 'receipt-id', message: 'the Receipt is of another decision' };
    throw receiptInvalid(receipt, checked.receipt, [failure]);
  }
  return checked.receipt;
}
