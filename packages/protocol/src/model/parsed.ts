/** What parsing untrusted input answers: a typed value, or the reason it was refused with a sentence for people. */
export type Parsed<T, Reason extends string = 'malformed'> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Reason; readonly problem: string };

export const parsed = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const refused = <Reason extends string>(
  reason: Reason,
  problem: string,
): { readonly ok: false; readonly reason: Reason; readonly problem: string } => ({
  ok: false,
  reason,
  problem,
});
