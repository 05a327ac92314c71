/**
 * The requests: every filter of the list, by callers with many and with few decisions; the counts; the public figures.
 */

import { DAY_MS } from '@svc/protocol';
import { ABSENT_REASON, REASONS } from './fill.ts';
import type { Ledger } from './prepare.ts';
import type { CallerName } from './tenants.ts';

export interface Case {
  readonly name: string;
  readonly caller: CallerName | 'admin';
  /** The path of the n-th request. Where it filters by time, each request has another time. */
  readonly path: (n: number) => string;
  /** Each request begins at the cursor of another page. */
  readonly isDeep: boolean;
  readonly barMs: number;
}

const LIST_MS = 50;
const COUNT_MS = 300;
/**
 * Bar of counts by key over all relying parties, in milliseconds. Such an answer has up to 146,000 counts in 7 MB, and
 * its size determines its time.
 */
const EVERY_KEY_MS = 1_000;
const PAGE = 200;

export const METRICS_CASE = { name: '/metrics?days=366', path: '/metrics?days=366', barMs: COUNT_MS };

export function casesOf({ firstDayMs, endMs, tenants }: Ledger, listMs = LIST_MS): readonly Case[] {
  const { largestPrincipal, smallestPrincipal, grants, keyIds } = tenants;
  const iso = (ms: number) => new Date(ms).toISOString();
  const period = `since=${iso(firstDayMs)}&until=${iso(endMs)}`;
  /** Another three days for each request. */
  const days = (n: number) => {
    const since = firstDayMs + (((n * 67) % 360) + 0.3) * DAY_MS;
    return `since=${iso(since)}&until=${iso(since + 3 * DAY_MS)}`;
  };
  const list = (
    caller: Case['caller'],
    filter: string,
    query: string | ((n: number) => string) = '',
  ): Case => ({
    name: `/decisions, ${caller}, ${filter}`,
    caller,
    path: (n) => `/decisions?limit=${PAGE}&${typeof query === 'string' ? query : query(n)}`,
    isDeep: filter.endsWith('deep'),
    barMs: listMs,
  });
  const count = (
    caller: Case['caller'],
    path: string,
    what: string,
    query: string,
    barMs = COUNT_MS,
  ): Case => ({
    name: `${path}, ${caller}, ${what}`,
    caller,
    path: () => `${path}?${query}`,
    isDeep: false,
    barMs,
  });
  const filters = (caller: Case['caller']): Case[] => [
    list(caller, 'no filter'),
    list(caller, 'no filter, deep'),
    list(caller, 'ALLOW', 'decision=ALLOW'),
    list(caller, 'DENY', 'decision=DENY'),
    list(caller, 'DENY, deep', 'decision=DENY'),
    list(caller, 'common reason', `reason=${REASONS.common[0]}`),
    list(caller, 'rare reason', `reason=${REASONS.rare[0]}`),
    list(caller, 'absent reason', `reason=${ABSENT_REASON}`),
    list(caller, 'large Principal', `principal=${largestPrincipal}`),
    list(caller, 'large Principal, deep', `principal=${largestPrincipal}`),
    list(caller, 'small Principal', `principal=${smallestPrincipal}`),
    list(caller, 'absent Principal', 'principal=did:web:nobody.example'),
    list(caller, 'Grant of a large Principal', `grant_id=${grants.largest}`),
    list(caller, 'Grant of a small Principal', `grant_id=${grants.smallest}`),
    list(caller, 'absent Grant', 'grant_id=urn:svc:grant:01HZZZZZZZZZZZZZZZZZZZZZZZ'),
    list(caller, 'large key', `key_id=${keyIds.largest}`),
    list(caller, 'small key', `key_id=${keyIds.smallest}`),
    list(caller, 'three days', days),
    list(caller, 'three days, rare reason', (n) => `${days(n)}&reason=${REASONS.rare[0]}`),
    list(caller, 'Principal and reason', `principal=${largestPrincipal}&reason=${REASONS.revoked[0]}`),
  ];
  return [
    ...filters('largest RP'),
    ...filters('smallest RP'),
    ...filters('org'),
    ...filters('admin'),
    ...(['largest RP', 'smallest RP', 'org', 'largest Principal', 'admin', 'observer'] as const).flatMap(
      (caller, index) => [
        count(caller, '/usage', '366 days', period),
        count(caller, '/usage', '366 days by key', `${period}&by=key`, index < 3 ? COUNT_MS : EVERY_KEY_MS),
      ],
    ),
    count('largest RP', '/usage', '366 days of a Principal', `${period}&principal=${largestPrincipal}`),
    ...(['largest RP', 'smallest RP', 'org', 'admin', 'observer'] as const).flatMap((caller) => [
      count(caller, '/decisions/stats', 'unless told', ''),
      count(caller, '/decisions/stats', '366 days', period),
    ]),
    count(
      'largest RP',
      '/decisions/stats',
      '366 days, a Principal',
      `${period}&principal=${largestPrincipal}`,
    ),
  ];
}
