import type { DidKey, DidWeb } from '@svc/codec';
import { describe, expect, it } from 'vitest';
import { capabilityForOnce, findApprovalFault, isReadable } from './approval.ts';
import type { Action } from './model/action.ts';
import type { Capability } from './model/capability.ts';
import type { Grant } from './model/grant.ts';
import { matchesResource, matchesUrl } from './resources/resource-pattern.ts';

const purchase = (resource: string): Action => ({
  type: 'commerce:purchase',
  resource,
  amount: 90_000,
  currency: 'USD',
});
const apiCall = (resource: string): Action => ({ type: 'api:call', method: 'POST', resource });
const isNull = (action: Action) => capabilityForOnce(action) === null;

describe('capabilityForOnce', () => {
  it('gives the exact resource, the amount as the ceiling, and one use', () => {
    expect(capabilityForOnce(purchase('order/7'))).toEqual({
      action: 'commerce:purchase',
      constraints: { maxAmount: 90_000, currency: 'USD', maxUses: 1 },
      resources: ['order/7'],
    });
    expect(capabilityForOnce(apiCall('https://api.example/b'))).toEqual({
      action: 'api:call',
      constraints: { methods: ['POST'], maxUses: 1 },
      resources: ['https://api.example/b'],
    });
  });

  it('returns null if the resource, as a pattern, matches more than itself or is invalid', () => {
    for (const resource of ['*', '**', 'order/*', 'order/7*', 'x'.repeat(513)])
      expect(isNull(purchase(resource)), resource).toBe(true);
    for (const resource of ['https://api.example/*', 'https://api.example/**', 'https://api.example:0x/'])
      expect(isNull(apiCall(resource)), resource).toBe(true);
    expect(isNull(purchase('x'.repeat(512)))).toBe(false);
  });

  it('returns null if the URL has a query or fragment, or is not in its normal form', () => {
    for (const url of ['/b?to=alice', '/b?', '/b#c', '/a/../b', '/%62'])
      expect(isNull(apiCall(`https://api.example${url}`)), url).toBe(true);
    for (const url of ['HTTPS://api.example/b', 'https://Api.example/b', 'https://api.example:443/b'])
      expect(isNull(apiCall(url)), url).toBe(true);
  });

  it('gives a pattern that matches its own resource only, even with escapes that wildcards do not match', () => {
    for (const path of ['a%2Fb', '..%2Fadmin', 'a%00b', 'a;b', 'a%20b']) {
      const [pattern = ''] = capabilityForOnce(apiCall(`https://api.example/${path}`))?.resources ?? [];
      expect(matchesUrl(pattern, `https://api.example/${path}`), path).toBe(true);
      expect(matchesUrl(pattern, `https://api.example/${path}/x`), path).toBe(false);
    }
    const [pattern = ''] = capabilityForOnce(purchase('order/7'))?.resources ?? [];
    for (const other of ['order/70', 'order/', 'Order/7', 'order/7 '])
      expect(matchesResource(pattern, other), other).toBe(false);
  });
});

describe('isReadable', () => {
  it.each([
    ['a right-to-left override', 'order/\u202e7'],
    ['a directional isolate', 'order/\u20667\u2069'],
    ['a direction mark', 'order/\u061c7'],
    ['a character without width', 'order/\u200b7'],
    ['a soft hyphen', 'order/\u00ad7'],
    ['a filler that is shown as a space', 'order/\u31647'],
    ['a variation selector', 'order/\ufe0f7'],
    ['a tag', 'order/\u{e0061}7'],
    ['a line break', 'order/7\n50.00 USD'],
    ['a line separator', 'order/\u20287'],
    ['a tabulator', 'order/\t7'],
    ['a no-break space', 'order/\u00a07'],
    ['spaces that push the rest away', 'order/7  of two'],
    ['a space at the end', 'order/7 '],
    ['a private use character', 'order/\ue000'],
    ['an unassigned code point', 'order/\u0378'],
    ['a combining stroke', 'order/7\u0336'],
    ['a Braille pattern without a dot', 'order/7\u2800of two'],
    ['a note head without a glyph', 'order/\u{1d159}7'],
    ['a full blank of hieroglyphs', 'order/\u{13441}7'],
    ['a half blank of hieroglyphs', 'order/\u{13442}7'],
    ['a filler of Khitan', 'order/\u{16fe4}7'],
    ['a combining circle', 'order/7\u20dd'],
    ['marks heaped on a letter', `order/a${'\u0301'.repeat(4)}`],
  ])('refuses a text with %s', (_what, text) => expect(isReadable(text)).toBe(false));

  it('accepts each letter and digit of every script, except those without a glyph', () => {
    const hasNoGlyph = /\p{Default_Ignorable_Code_Point}|[\u{13441}\u{13442}]/u;
    const characters = Array.from({ length: 0x40000 }, (_, point) => String.fromCodePoint(point)).join('');
    const letters = characters.match(/[\p{L}\p{N}]/gu) ?? [];
    expect(letters.length).toBeGreaterThan(100_000);
    const shown = letters.filter((letter) => !hasNoGlyph.test(letter)).join('');
    expect(isReadable(shown), `refused: ${[...shown].find((letter) => !isReadable(letter))}`).toBe(true);
    expect(letters.filter((letter) => hasNoGlyph.test(letter) && isReadable(letter))).toEqual([]);
  });

  it('accepts texts in several scripts', () => {
    for (const text of ['order/7', 'café crème', 'заказ/7', '注文/7', 'नमस्ते', 'https://shop.example/a?b=c#d'])
      expect(isReadable(text), text).toBe(true);
  });
});

describe('findApprovalFault', () => {
  const agent = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' as DidKey;
  const relyingParty = 'did:web:shop.example' as DidWeb;
  const capability = capabilityForOnce(purchase('order/7')) as Capability;
  const asked = { agent, relyingParty, capability };
  const exact = {
    agent,
    audience: [relyingParty],
    capabilities: [capability],
    validFromMs: 0,
    validUntilMs: 15 * 60_000,
  } as const;
  const faultOf = (change: object) => findApprovalFault({ ...exact, ...change } as unknown as Grant, asked);
  const withConstraints = (change: object) => ({
    capabilities: [{ ...capability, constraints: { ...capability.constraints, ...change } }],
  });

  it('accepts the Grant that was requested, for any order of its constraints', () => {
    expect(faultOf({})).toBeNull();
    const { maxUses, currency, maxAmount } = capability.constraints;
    const reordered = { ...capability, constraints: { maxUses, currency, maxAmount } };
    expect(faultOf({ capabilities: [reordered], validUntilMs: 60_000 })).toBeNull();
  });

  it.each<[string, object, RegExp]>([
    ['another Agent', { agent: 'did:key:z6MkOther' }, /for the Agent/],
    ['no audience', { audience: null }, /audience/],
    ['another audience', { audience: ['did:web:other.example'] }, /audience/],
    ['one more audience', { audience: [relyingParty, 'did:web:other.example'] }, /audience/],
    ['one more Capability', { capabilities: [capability, capability] }, /exactly one/],
    ['no Capability', { capabilities: [] }, /exactly one/],
    ['a greater amount', withConstraints({ maxAmount: 90_001 }), /exactly one/],
    ['a lesser amount', withConstraints({ maxAmount: 89_999 }), /exactly one/],
    ['another currency', withConstraints({ currency: 'EUR' }), /exactly one/],
    ['two uses', withConstraints({ maxUses: 2 }), /exactly one/],
    ['one more budget', withConstraints({ maxTotal: 90_000 }), /exactly one/],
    [
      'unbounded uses',
      { capabilities: [{ ...capability, constraints: { maxAmount: 90_000, currency: 'USD' } }] },
      /exactly one/,
    ],
    [
      'every resource',
      { capabilities: [{ action: capability.action, constraints: capability.constraints }] },
      /exactly one/,
    ],
    [
      'more resources',
      { capabilities: [{ ...capability, resources: ['order/7', 'order/8'] }] },
      /exactly one/,
    ],
    ['a wildcard', { capabilities: [{ ...capability, resources: ['order/*'] }] }, /exactly one/],
    ['a second more than 15 minutes', { validUntilMs: 15 * 60_000 + 1_000 }, /15 minutes/],
  ])('refuses a Grant with %s', (_what, change, fault) => {
    expect(faultOf(change)).toMatch(fault);
  });
});
