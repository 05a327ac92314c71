/** What parsing untrusted input answers: a typed value, or the reason it was refused with a sentence for people. */
export type Parsed<T, Reason extends string = 'malformed'> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Reason; readonly problem: string };

/** What was parsed. */
export const parsed = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** Why it was refused: a code, and a sentence for people. */
export const refused = <Reason extends string>(
  reason: Reason,
  problem: string,
): { readonly ok: false; readonly reason: Reason; readonly problem: string } => ({
  ok: false,
  reason,
  problem,
});
