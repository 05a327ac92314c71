/** Describes a request in plain words. */
import type { Action } from '@svc/protocol';
import { formatAmount } from '../shared/describe.ts';

/** `did:web:shop.example:eu` → `shop.example`: the part of the DID that can be proven. */
export const hostOf = (did: string): string => {
  const [host = did] = did.replace(/^did:web:/, '').split(':');
  return decodeURIComponent(host);
};

/** Whether the DID has a path behind the host. The owner of the host chose that path freely. */
export const hasChosenName = (did: string): boolean => did.replace(/^did:web:/, '').includes(':');

/** The host; or `shop at svc.example` where `service` hosts that name. */
export const nameOf = (did: string, service: string | null): string =>
  service === null ? hostOf(did) : `${did.split(':').at(-1)} at ${service}`;

/**
 * The service that hosts this name, or null. It is the service that signed the Receipt, whose signature was checked.
 */
export const hostingService = (did: string, receiptJws: string): string | null => {
  const [head = ''] = receiptJws.split('.');
  const { kid } = JSON.parse(atob(head.replaceAll('-', '+').replaceAll('_', '/'))) as { kid: string };
  const [service = ''] = kid.split('#');
  return did.startsWith(`${service}:`) ? hostOf(service) : null;
};

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
] as const;

/** Rounded down, in the largest unit of which at least two are left: `14 minutes from now`. */
export const describeLeft = (leftMs: number): string => {
  if (leftMs <= 0) return 'which is over by the clock of this computer';
  if (leftMs < 60_000) return 'less than a minute from now';
  const [unit, ms] = UNITS.find(([, ms]) => leftMs >= 2 * ms) ?? ['minute', 60_000];
  const count = Math.floor(leftMs / ms);
  return `${count} ${unit}${count === 1 ? '' : 's'} from now`;
};

/** Omits the resource: an Agent chose that text and could continue this sentence with it. */
export const describeWish = (action: Action): string =>
  action.type === 'api:call'
    ? `send one ${action.method} request`
    : `spend up to ${formatAmount(action.amount, action.currency)}`;

/**
 * Lists the characters beyond ASCII, as `é U+00E9`: they can look like ASCII letters, and a font may have no glyph for
 * them. Null: there are none.
 */
export const findForeign = (text: string): string | null => {
  const found = [...new Set(text.match(/[^\x20-\x7e]/gu) ?? [])].slice(0, 20);
  return found.length === 0 ? null : found.map((one) => `${one} ${codePointOf(one)}`).join(', ');
};

const codePointOf = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
