/** The smallest of the values that at least `percent` of them do not exceed. NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the middle two. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = Number.NaN, high = low] = sorted.slice(Math.floor((sorted.length - 1) / 2));
  return sorted.length % 2 === 1 ? low : (low + high) / 2;
}

/** Ratios of two series, element by element: their median, and a text with the quartiles. */
export function ratiosOf(
  own: readonly number[],
  others: readonly number[],
): { readonly ratio: number; readonly text: string } {
  const ratios = own.map((value, i) => value / (others[i] ?? Number.NaN)).sort((a, b) => a - b);
  const at = (share: number) => (ratios[Math.round(share * (ratios.length - 1))] ?? Number.NaN).toFixed(3);
  const ratio = median(ratios);
  return { ratio, text: `ratio ${ratio.toFixed(3)} (half of them ${at(0.25)} to ${at(0.75)})` };
}
