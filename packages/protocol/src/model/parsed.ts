/** The result of parsing untrusted input: a typed value, or the reason for the refusal with a sentence for people. */
export type Parsed<T, Reason extends string = 'malformed'> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Reason; readonly problem: string };

/** A result with its value. */
export const parsed = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** A refusal: a code, and a sentence for people. */
export const refused = <Reason extends string>(
  reason: Reason,
  problem: string,
): { readonly ok: false; readonly reason: Reason; readonly problem: string } => ({
  ok: false,
  reason,
  problem,
});
