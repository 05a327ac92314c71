/** Tells whether the input is wrong, or only cannot be decided here. */
import type { BundleFailureCode } from './bundle/failure.ts';
import type { Failure } from './failure.ts';

/** The result of a verification. `undecided`: neither proven right nor wrong with what is known here. */
export type Verdict = 'valid' | 'invalid' | 'undecided';

const UNDECIDED_CODES: readonly BundleFailureCode[] = [
  'malformed-did-document',
  'unknown-profile',
  'wrong-profile-hash',
  'unknown-trust-config',
  'wrong-trust-config-hash',
  'inclusion-pending',
  'key-not-in-force',
  'missing-key',
  'unknown-key',
];
const UNDECIDED: ReadonlySet<string> = new Set(UNDECIDED_CODES);

/**
 * The verdict for the failures of a Receipt, an inclusion proof or a bundle.
 *
 * `invalid` if any part was found to be altered, whatever else is undecided. `undecided` if a later version of the
 * library, a readable or newer document, another key or a later day could change every one of the failures. An
 * `undecided` input is not authenticated: if the document is unreadable or lacks the key, no signature was checked, and
 * anybody can have written the input.
 * @example
 * const verified = verifyReceipt(receipt, didDocument);
 * const verdict = verdictOf(verified.ok ? [] : verified.failures);
 */
export const verdictOf = (failures: readonly Failure<string>[]): Verdict => {
  if (failures.length === 0) return 'valid';
  return failures.every(({ code }) => UNDECIDED.has(code)) ? 'undecided' : 'invalid';
};
