/** Maps a verdict to the process's exit code. */
import { nativeCrypto } from '@svc/protocol/native';
import type { Verdict } from '@svc/receipts';

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

export const optionsOf = ({ serviceDid }: { readonly serviceDid: string | undefined }) =>
  serviceDid === undefined ? { crypto: nativeCrypto } : { crypto: nativeCrypto, serviceDid };
