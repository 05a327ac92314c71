/** A request in words that a person knows. */
import type { Action } from '@svc/protocol';
import { formatAmount } from '../shared/describe.ts';

/** `did:web:shop.example:eu` → `shop.example`: what of it can be proven. */
export const hostOf = (did: string): string => {
  const [host = did] = did.replace(/^did:web:/, '').split(':');
  return decodeURIComponent(host);
};

/** Whether something stands behind the host, which whoever has the host chose freely. */
export const hasChosenName = (did: string): boolean => did.replace(/^did:web:/, '').includes(':');

/** The host alone; `shop at svc.example` where `service` hosts that name. */
export const nameOf = (did: string, service: string | null): string =>
  service === null ? hostOf(did) : `${did.split(':').at(-1)} at ${service}`;

/** The service that hosts this name, where one does: that of the Receipt, whose signature was checked. */
export const hostingService = (did: string, receiptJws: string): string | null => {
  const [head = ''] = receiptJws.split('.');
  const { kid } = JSON.parse(atob(head.replaceAll('-', '+').replaceAll('_', '/'))) as { kid: string };
  const [service = ''] = kid.split('#');
  return did.startsWith(`${service}:`) ? hostOf(service) : null;
};

/** Without the resource: an Agent chose that text, and could write on in this sentence. */
export const describeWish = (action: Action): string =>
  action.type === 'api:call'
    ? `send one ${action.method} request`
    : `spend up to ${formatAmount(action.amount, action.currency)}`;

/** Letters of other scripts can look like these, and a font may have no glyph for one: `é U+00E9`. Null: there are none. */
export const findForeign = (text: string): string | null => {
  const found = [...new Set(text.match(/[^\x20-\x7e]/gu) ?? [])].slice(0, 20);
  return found.length === 0 ? null : found.map((one) => `${one} ${codePointOf(one)}`).join(', ');
};

const codePointOf = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
