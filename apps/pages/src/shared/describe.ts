/** Writes amounts, times and authorities for readers. */
import type { Capability } from '@svc/protocol';

/**
 * Minor units of ISO 4217 where they are not hundredths. Those of `Intl` are the decimals in common use: JavaScript
 * engines differ in them, and for some currencies they are fewer.
 */
const MINOR_UNIT_DIGITS: Readonly<Record<string, number>> = Object.fromEntries([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI'].map((of) => [
    of,
    0,
  ]),
  ...['VND', 'VUV', 'XAF', 'XOF', 'XPF'].map((of) => [of, 0]),
  ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((of) => [of, 3]),
  ...['CLF', 'UYW'].map((of) => [of, 4]),
]);

/** `amountMinor` of an ISO 4217 currency, with as many decimals as the currency has. */
export const formatAmount = (amountMinor: number, currency: string): string => {
  const digits = MINOR_UNIT_DIGITS[currency] ?? 2;
  try {
    return new Intl.NumberFormat('en', {
      ...{ style: 'currency', currency, currencyDisplay: 'code' },
      ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
    }).format(amountMinor / 10 ** digits);
  } catch {
    return `${amountMinor} ${currency}`;
  }
};

/** Omits the resources: their author could continue this sentence with them. `<Authority>` shows both. */
export const describeLimits = ({ action, constraints }: Capability): string => {
  const { maxAmount, currency, methods, maxUses, ...others } = constraints as Readonly<
    Record<string, unknown>
  >;
  const limit =
    typeof maxAmount === 'number' && typeof currency === 'string'
      ? ` up to ${formatAmount(maxAmount, currency)}`
      : '';
  const verbs = Array.isArray(methods) ? ` ${methods.join(', ')}` : '';
  const more = Object.keys(others).length > 0 ? ` with ${JSON.stringify(others)}` : '';
  const uses = typeof maxUses !== 'number' ? '' : maxUses === 1 ? ' (once)' : ` (${maxUses} times in all)`;
  return `${action}${verbs}${limit}${more}${uses}`;
};

const MAX_CHARS = 50_000;

/** Shows the beginning of a text that is far longer than any in a Receipt, so that the page does not freeze. */
export const abridge = (text: string): string =>
  text.length <= MAX_CHARS
    ? text
    : `${text.slice(0, MAX_CHARS)} … and ${(text.length - MAX_CHARS).toLocaleString('en')} characters more`;

/** `2026-11-20T08:00:00.123Z` → `2026-11-20 08:00:00 UTC`. */
export const formatInstant = (timestamp: string): string => `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;
