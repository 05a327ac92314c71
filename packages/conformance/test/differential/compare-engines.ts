/** Runs our engine and the independent one on the same random inputs. */
import { evaluateJson, type JsonValue } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { Random } from '@svc/vectors/src/random/random.ts';
import { randomInput } from '@svc/vectors/src/random/random-input.ts';
import { findFirstDifference } from '../../src/first-difference.ts';

export type Evaluate = (input: unknown) => unknown;

export interface Tally {
  readonly compared: number;
  /** Inputs that our engine refuses, so that there is nothing to compare. */
  readonly refused: number;
  readonly allowed: number;
  /** How often each reason was given. */
  readonly reasons: ReadonlyMap<string, number>;
}

/** Compares until `decisions` have been made. Throws Error with the input if the engines differ. */
export const compareEngines = (
  independent: Evaluate,
  options: {
    readonly decisions: number;
    readonly seed: number;
    readonly onProgress?: (compared: number) => void;
  },
): Tally => {
  const random = new Random(options.seed);
  const reasons = new Map<string, number>();
  let [compared, refused, allowed] = [0, 0, 0];
  while (compared < options.decisions) {
    const input = randomInput(random);
    if (input === null) continue;
    const ours = attempt(() => evaluateJson(input, nativeCrypto));
    if (ours === null) {
      refused++;
      continue;
    }
    const difference = findFirstDifference(
      ours,
      attempt(() => independent(input)),
    );
    if (difference !== null) throw new Error(`the engines differ: ${JSON.stringify({ difference, input })}`);
    const { reason } = ours as { readonly reason: string | null };
    if (reason === null) allowed++;
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    compared++;
    options.onProgress?.(compared);
  }
  return { compared, refused, allowed, reasons };
};

/** The result as sent over the wire; null if the engine refuses the input. */
const attempt = (evaluate: () => unknown): JsonValue => {
  try {
    return JSON.parse(JSON.stringify(evaluate()));
  } catch {
    return null;
  }
};
