/** Whose Receipts are believed: under the service's document, and under a newer one if the kept one lacks the key. */
import { type CryptoPort, type JsonValue, portableCrypto } from '@svc/codec';
import { type Receipt, type ServiceKeys, type VerifiedReceipt, verifyReceipt } from '@svc/receipts';
import { type IncludedReceipt, verifyIncludedReceipt } from '@svc/receipts/inclusion';
import { SvcError } from '@svc/sdk-core';
import type { ClockDifference } from './answer-window.ts';
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

/** Checks again with a newer document if the kept one lacks the key, as after a rotation. */
export async function checkWithRenewal<
  Check extends { ok: true } | { ok: false; failures: readonly ReceiptFailure[] },
>({ documents }: Trust, keys: ServiceKeys, check: (keys: ServiceKeys) => Check): Promise<Check> {
  const first = check(keys);
  if (first.ok || !first.failures.some(({ code }) => code === 'unknown-key')) return first;
  const newer = await documents.renew();
  return newer === null ? first : check(newer);
}

export function receiptError(failures: readonly ReceiptFailure[]): SvcError {
  const what = failures.map(({ code, message }) => `${message} (${code})`).join('; ');
  return new SvcError('receipt-invalid', `the Receipt cannot be trusted: ${what}`, { cause: failures });
}

/**
 * The Receipt of an earlier decision, if it is genuine and the one asked for. `inclusion` is the proof beside it, where there
 * is one: it may say that the Receipt is genuine although its key is not in force any more.
 * @throws SvcError `receipt-invalid`
 */
export async function checkStoredReceipt(
  trust: Trust,
  keys: ServiceKeys,
  receiptId: string,
  { receipt, inclusion }: { readonly receipt: JsonValue; readonly inclusion?: JsonValue },
): Promise<Receipt> {
  const { serviceDid, relyingParty, crypto = portableCrypto } = trust;
  const options = serviceDid === undefined ? { crypto } : { crypto, serviceDid };
  const check = (serviceDidDocument: ServiceKeys) => {
    const alone = verifyReceipt(receipt, serviceDidDocument, options);
    const isUntimely = !alone.ok && alone.failures.every(({ code }) => code === 'key-not-in-force');
    return isUntimely && inclusion !== undefined
      ? verifyIncludedReceipt({ receipt, inclusion, serviceDidDocument, ...options })
      : alone;
  };
  const checked = await checkWithRenewal<VerifiedReceipt | IncludedReceipt>(trust, keys, check);
  if (!checked.ok) throw receiptError(checked.failures);
  const isOurs = relyingParty === undefined || checked.receipt.relying_party === relyingParty;
  if (checked.receipt.receipt_id !== receiptId || !isOurs) {
    throw receiptError([{ code: 'receipt-id', message: 'the Receipt is of another decision' }]);
  }
  return checked.receipt;
}
