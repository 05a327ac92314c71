/** How a verdict leaves the process. */
import { nativeCrypto } from '@svc/protocol/native';
import type { Failure } from '@svc/receipts';
import type { Verdict } from './report.ts';

const EXIT_CODES = { valid: 0, invalid: 1, undecided: 2 } as const;

export interface Output {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

export const answer = (verdict: Verdict, stdout: string): Output => ({
  exitCode: EXIT_CODES[verdict],
  stdout,
  stderr: '',
});

/** What a later version of the library, a readable document, another key, or a later day could decide otherwise. */
const UNDECIDED: ReadonlySet<string> = new Set([
  'malformed-did-document',
  'unknown-profile',
  'unknown-trust-config',
  'inclusion-pending',
  'key-not-in-force',
  'missing-key',
]);

export const verdictOf = (failures: readonly Failure<string>[]): Verdict => {
  if (failures.length === 0) return 'valid';
  return failures.every(({ code }) => UNDECIDED.has(code)) ? 'undecided' : 'invalid';
};

export const optionsOf = ({ serviceDid }: { readonly serviceDid: string | undefined }) =>
  serviceDid === undefined ? { crypto: nativeCrypto } : { crypto: nativeCrypto, serviceDid };
