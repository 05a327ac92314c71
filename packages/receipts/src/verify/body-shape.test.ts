import { checkShape, type ShapeFailureCode } from '@svc/codec';
import { MAX_METHODS, MAX_RESOURCES, PERIODS } from '@svc/protocol';
import { budgeted, capabilityOf } from '@svc/testkit/receipts/budgets';
import { AGENT, API_CALL, buildWorld } from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { RECEIPT_BODY_SHAPE } from './body-shape.ts';

const budget = capabilityOf({ maxTotal: 100_000, maxPerPeriod: 50_000, period: 'day' });
const BODIES = {
  purchase: (await buildWorld()).body,
  call: (await buildWorld({ action: API_CALL })).body,
  budgeted: (await buildWorld(budgeted([budget]))).body,
};
type Of = keyof typeof BODIES;
type Container = Record<string, unknown>;

/** The faults in the form of the body after the place is set to the value; undefined removes it. */
const faultsOf = (of: Of, place: string, value: unknown): string[] => {
  const body = structuredClone(BODIES[of]) as unknown as Container;
  const names = place.split('/').slice(1);
  const last = names.pop() ?? '';
  const container = names.reduce((at, name) => at[name] as Container, body);
  container[last] = value;
  if (value === undefined) delete container[last];
  const failures: { code: ShapeFailureCode; path?: string }[] = [];
  checkShape(body, RECEIPT_BODY_SHAPE, { what: 'Receipt', failures });
  return failures.map(({ code, path }) => `${code} ${path}`);
};

const URL = '/evidence/status/credential_url';
const INDEX = '/evidence/status/status_list_index';
const METHODS = '/authority/constraints/methods';
const RESOURCES = '/authority/resources';
const AMOUNT = '/authority/constraints/maxAmount';

const urlOf = (chars: number): string => 'https://x/'.padEnd(chars, 'y');
const methods = (count: number) => Array.from({ length: count }, (_, i) => String.fromCharCode(65 + i));
const patterns = (count: number) => Array.from({ length: count }, (_, i) => `order/${i}`);
const inside = (path: string, ...names: readonly string[]) => names.map((name) => `${path}/${name}`);

describe('the shape of a Receipt accepts', () => {
  it.each<[string, Of, string, unknown]>([
    ['a URL of 2,048 characters', 'purchase', URL, urlOf(2048)],
    ['an http URL, with the first and the last visible character', 'purchase', URL, 'http://!~'],
    ['an index of 0', 'purchase', INDEX, '0'],
    ['an index of 16 digits', 'purchase', INDEX, '9'.repeat(16)],
    ['a list without valid_from', 'purchase', '/evidence/status/valid_from', undefined],
    ['a list with valid_from', 'purchase', '/evidence/status/valid_from', '2026-11-20T07:59:00.5Z'],
    ['DENY', 'purchase', '/decision', 'DENY'],
    ['a reason', 'purchase', '/reason', 'GRANT_EXPIRED'],
    ['an authority that is null', 'purchase', '/authority', null],
    ['a Principal that is not verified', 'purchase', '/principal/verification', 'unverified'],
    ['an outcome that is false', 'purchase', '/protocol/checks/P1', false],
    ['an outcome that was skipped', 'purchase', '/trust/checks/T5', 'skipped'],
    ['a result that is FAIL', 'purchase', '/trust/result', 'FAIL'],
    ['a maximum of 0', 'purchase', AMOUNT, 0],
    ['a maximum of 2^53-1', 'purchase', AMOUNT, Number.MAX_SAFE_INTEGER],
    ['an authority without resources', 'purchase', RESOURCES, undefined],
    ['one resource', 'purchase', RESOURCES, patterns(1)],
    [`${MAX_RESOURCES} resources`, 'purchase', RESOURCES, patterns(MAX_RESOURCES)],
    ['one method', 'call', METHODS, methods(1)],
    [`${MAX_METHODS} methods`, 'call', METHODS, methods(MAX_METHODS)],
    ['uses of an API call', 'call', '/authority/constraints/maxUses', 1],
    ['uses of a purchase', 'budgeted', '/authority/constraints/maxUses', 1],
  ])('%s', (_, of, place, value) => {
    expect(faultsOf(of, place, value)).toEqual([]);
  });

  it.each(PERIODS)('a budget with the period %s', (period) => {
    expect(faultsOf('budgeted', '/authority/constraints/period', period)).toEqual([]);
  });
});

describe('the shape of a Receipt refuses', () => {
  it.each<[string, Of, string, unknown]>([
    ['a URL of 2,049 characters', 'purchase', URL, urlOf(2049)],
    ['a URL with text before it', 'purchase', URL, ' https://x/'],
    ['a URL with text after it', 'purchase', URL, 'https://x/\n'],
    ['a URL with a space', 'purchase', URL, 'https://x/ y'],
    ['a URL with nothing after its scheme', 'purchase', URL, 'https://'],
    ['an index of 17 digits', 'purchase', INDEX, '9'.repeat(17)],
    ['an index with a sign', 'purchase', INDEX, '-1'],
    ['an index with text after it', 'purchase', INDEX, '1x'],
    ['an index with a leading zero', 'purchase', INDEX, '01'],
    ['an index that is empty', 'purchase', INDEX, ''],
    ['a valid_from with an offset', 'purchase', '/evidence/status/valid_from', '2026-11-20T07:59:00+01:00'],
    ['an Agent with text before it', 'purchase', '/agent', `x${AGENT}`],
    ['an Agent with text after it', 'purchase', '/agent', `${AGENT}x`],
    ['an Agent with a letter that base58 lacks', 'purchase', '/agent', AGENT.replace(/.$/, 'l')],
    ['an Agent that is null', 'purchase', '/agent', null],
    ['a profile without a name', 'purchase', '/protocol/profile', ''],
    ['a trust configuration without a name', 'purchase', '/evidence/trust_config_version', ''],
    ['a result in small letters', 'purchase', '/protocol/result', 'pass'],
    ['an outcome that is null', 'purchase', '/trust/checks/T1', null],
    ['a reason that is a number', 'purchase', '/reason', 7],
    ['a Principal that is null', 'purchase', '/principal', null],
    ['a maximum below 0', 'purchase', AMOUNT, -1],
    ['a maximum of 2^53', 'purchase', AMOUNT, 2 ** 53],
    ['a currency in small letters', 'purchase', '/authority/constraints/currency', 'usd'],
    ['another type of Action', 'purchase', '/authority/action', 'x'],
    ['constraints that are null', 'purchase', '/authority/constraints', null],
    ['resources that are not a list', 'purchase', RESOURCES, { length: 1 }],
    ['a resource that is not text', 'purchase', RESOURCES, [['x']]],
    ['a resource that is empty', 'purchase', RESOURCES, ['x', '']],
    ['a resource with half a surrogate pair', 'purchase', RESOURCES, ['\ud800']],
    ['a resource with a NUL', 'purchase', RESOURCES, ['a\0b']],
    ['no resources', 'purchase', RESOURCES, []],
    [`${MAX_RESOURCES + 1} resources`, 'purchase', RESOURCES, patterns(MAX_RESOURCES + 1)],
    ['no methods', 'call', METHODS, []],
    ['methods in text', 'call', METHODS, 'GET'],
    ['a method in small letters', 'call', METHODS, ['GET', 'post']],
    [`${MAX_METHODS + 1} methods`, 'call', METHODS, methods(MAX_METHODS + 1)],
    ['a version of 0.5', 'budgeted', '/evidence/consumption/version', 0.5],
  ])('%s', (_, of, place, value) => {
    expect(faultsOf(of, place, value)).toEqual([`malformed-member ${place}`]);
  });

  it.each(['period', 'maxPerPeriod'])('a budget that lacks only %s', (name) => {
    expect(faultsOf('budgeted', `/authority/constraints/${name}`, undefined)).toEqual([
      'malformed-member /authority/constraints',
    ]);
  });

  it.each<[string, Of]>([
    [METHODS, 'purchase'],
    ['/authority/constraints/currency', 'call'],
    ...inside('/evidence', 'x', 'issuer_resolution/x', 'status/x').map((place): [string, Of] => [
      place,
      'purchase',
    ]),
    ...['/principal/x', '/authority/x', '/protocol/x', '/trust/x'].map((place): [string, Of] => [
      place,
      'purchase',
    ]),
    ['/protocol/checks/P00', 'purchase'],
    ['/evidence/consumption/x', 'budgeted'],
  ])('%s in the Receipt of a %s, as an unknown member', (place, of) => {
    expect(faultsOf(of, place, 1)).toEqual([`unknown-member ${place}`]);
  });

  it.each<[string, Of]>([
    ...[
      ...inside('', 'decision', 'evaluated_at', 'evidence', 'grant_hash', 'proof_hash', 'protocol', 'reason'),
      ...inside('', 'receipt_id', 'receipt_version', 'relying_party', 'trust'),
      ...inside('/evidence', 'trust_config_hash', 'trust_config_version'),
      ...inside('/evidence/issuer_resolution', 'did', 'did_document_hash', 'resolved_at'),
      ...inside('/evidence/status', 'checked_at', 'credential_hash', 'credential_url', 'status_list_index'),
      ...inside('/protocol', 'checks', 'profile', 'profile_hash', 'result', 'checks/P1', 'checks/P20'),
      ...inside('/trust', 'checks', 'policy_version', 'result', 'checks/T1', 'checks/T5'),
      ...inside('/authority', 'action', 'constraints', 'constraints/currency', 'constraints/maxAmount'),
      ...inside('/principal', 'id', 'verification'),
    ].map((place): [string, Of] => [place, 'purchase']),
    ...inside('/evidence/consumption', 'key', 'snapshot_hash', 'version').map((place): [string, Of] => [
      place,
      'budgeted',
    ]),
    [METHODS, 'call'],
  ])('a body without %s', (place, of) => {
    expect(faultsOf(of, place, undefined)).toEqual([`missing-member ${place}`]);
  });
});

describe('the shape of a Receipt does not require', () => {
  it.each([
    ...['/agent', '/authority', '/expires_at', '/grant_id', '/principal', '/request_hash'],
    ...inside('/evidence', 'consumption', 'issuer_resolution', 'status'),
  ])('%s', (place) => {
    expect(faultsOf('budgeted', place, undefined)).toEqual([]);
  });
});
