/** The verifier without its page: takes what was presented and the pinned document, and returns parts and a verdict. */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import {
  type Failure,
  parseReceipt,
  type Receipt,
  type Verdict,
  verdictOf,
  verifyReceipt,
} from '@svc/receipts';
import { type BundleFailureCode, verifyBundle } from '@svc/receipts/bundle';
import type { Part } from '../shared/part.ts';
import { bundleParts, receiptParts, withoutDocument } from './parts.ts';

export interface Checked {
  readonly verdict: Verdict;
  readonly parts: readonly Part[];
  /** Authenticated only where the verdict is valid; otherwise what the text claims, where that can be read. */
  readonly receipt: Receipt | null;
  readonly jws: string | null;
}

/**
 * `serviceDocument` is the text of the pinned DID document, or null where none is known yet. `isAttested`: the Receipt
 * is in a bundle that holds, so its date is accepted whatever has happened to its key.
 */
export const checkReceipt = (
  receipt: unknown,
  serviceDocument: string | null,
  isAttested = false,
): Checked => {
  const result = isAttested ? parseReceipt(receipt) : verifyReceipt(receipt, serviceDocument ?? {});
  if (result.ok)
    return {
      verdict: 'valid',
      parts: receiptParts([]),
      receipt: result.receipt,
      jws: result.receipt.receipt,
    };
  const claimed = parseReceipt(receipt);
  const jws = jwsOf(receipt);
  const receiptClaimed = claimed.ok ? claimed.receipt : null;
  const verdict = verdictOf(result.failures);
  if (serviceDocument !== null)
    return { verdict, parts: receiptParts(result.failures), receipt: receiptClaimed, jws };
  // Without a document nothing is known about the signature; that is not a fault of the Receipt.
  const own = result.failures.filter(({ code }) => code !== 'malformed-did-document');
  return { verdict, parts: withoutDocument(receiptParts(own)), receipt: receiptClaimed, jws };
};

const jwsOf = (receipt: unknown): string | null => {
  const parsed = typeof receipt === 'string' ? parseStrictJson(receipt) : null;
  const value = parsed === null ? receipt : parsed.ok ? parsed.value : null;
  return isJsonObject(value) && typeof value.receipt === 'string' ? value.receipt : null;
};

/**
 * Checks a bundle, part by part. Without a pinned document it is checked against its own document. That shows only
 * whether the bundle agrees with itself, not who wrote it, so the verdict is never more than undecided.
 */
export const checkBundle = (bundle: JsonObject, serviceDocument: string | null): Checked => {
  const document = serviceDocument ?? textOf(bundle.did_document);
  const result = verifyBundle(
    bundle,
    document === null ? { serviceDid: 'did:web:unknown.invalid' } : { serviceDidDocument: document },
  );
  const receipt = checkReceipt(bundle.receipt, document, result.ok);
  const found = result.ok ? [] : result.failures;
  const isOwnFault = serviceDocument === null && found.some(({ code }) => OF_DOCUMENT.has(code));
  const failures = isOwnFault ? [OWN_FAULT, ...found] : found;
  const parts = [...receipt.parts, ...bundleParts(failures, receipt.verdict === 'valid')];
  const verdict = verdictOf(failures);
  if (serviceDocument !== null) return { ...receipt, verdict, parts };
  return { ...receipt, verdict: result.ok ? 'undecided' : verdict, parts: withoutDocument(parts) };
};

const OF_DOCUMENT: ReadonlySet<string> = new Set(['malformed-did-document', 'unknown-key']);

/** The document came with the bundle. If it is not a DID document, or lacks a key, that is a fault of the bundle. */
const OWN_FAULT: Failure<BundleFailureCode> = {
  ...{ code: 'malformed-bundle', path: '/did_document' },
  message: 'its did_document is none, or does not have each key that it is signed by',
};

const textOf = (value: unknown): string | null => {
  if (typeof value === 'string') return value;
  return value === undefined ? null : JSON.stringify(value);
};
