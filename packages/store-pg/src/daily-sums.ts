/** The tables of daily sums (migrations/0001-foundation/07-usage.sql). */
export type DailySums = 'usage_by_day' | 'usage_by_key' | 'usage_by_principal' | 'usage_counts';

interface SumsFilter {
  /** Null: all of them. */
  readonly relyingParties: readonly string[] | null;
  readonly principal?: string | null | undefined;
  readonly keyId?: string | undefined;
}

/** The coarsest table that can answer. */
export function dailySumsOf({ relyingParties, principal, keyId }: SumsFilter): DailySums {
  const isOfAll = relyingParties === null && keyId === undefined;
  if (principal !== undefined) return isOfAll ? 'usage_by_principal' : 'usage_counts';
  return isOfAll ? 'usage_by_day' : 'usage_by_key';
}
