/** Whether what was presented is wrong, or could only not be decided here. */
import type { BundleFailureCode } from './bundle/failure.ts';
import type { Failure } from './failure.ts';

/** What a verification comes to. `undecided`: neither right nor wrong, as far as can be told here. */
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
 * The verdict by the failures of a Receipt, an inclusion proof or a bundle. `undecided` where each is one that a later version of
 * the library, a readable or newer document, another key or a later day could decide otherwise. What is found to be altered is
 * `invalid`, whatever else is open; where the document cannot be read, or does not have the key, no signature has been checked:
 * anybody can have written it.
 * @example
 * const verified = verifyReceipt(receipt, didDocument);
 * const verdict = verdictOf(verified.ok ? [] : verified.failures);
 */
export const verdictOf = (failures: readonly Failure<string>[]): Verdict => {
  if (failures.length === 0) return 'valid';
  return failures.every(({ code }) => UNDECIDED.has(code)) ? 'undecided' : 'invalid';
};
