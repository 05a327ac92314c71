/** What a person reads before an approval is signed. */
import type { AccessRequest, CheckedAccessRequest } from '@svc/sdk-principal';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { Decided, Wish } from './wish.tsx';
import { describeLeft } from './words.ts';

const SERVICE = 'did:web:svc.example';
const PURCHASE = { type: 'commerce:purchase', resource: 'order/7', amount: 90_000, currency: 'USD' } as const;
const CALL = { type: 'api:call', resource: 'https://api.example/orders/7', method: 'POST' } as const;

const htmlOf = (action: CheckedAccessRequest['action'], relyingParty = 'did:web:shop.example'): string => {
  const head = btoa(JSON.stringify({ alg: 'EdDSA', kid: `${SERVICE}#receipt-1` })).replace(/=+$/, '');
  const request = {
    relying_party: relyingParty,
    agent: 'did:key:z6MkAgent',
    grant_id: 'urn:svc:grant:1',
    task: { expires_at: '2026-11-20T10:15:00Z' },
  } as unknown as AccessRequest;
  const receipt = { receipt: `${head}.e30.AAAA`, receipt_id: 'drc_1', reason: 'AMOUNT_EXCEEDS_AUTHORITY' };
  const checked = { action, receipt, signedAt: new Date(0) } as unknown as CheckedAccessRequest;
  return renderToString(h(Wish, { request, checked }));
};
const withoutTags = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
/** The value that is shown beside this term. */
const fact = (html: string, term: string): string =>
  withoutTags(new RegExp(`<dt>${term}</dt><dd>(.*?)</dd>`, 's').exec(html)?.[1] ?? 'not there');

it('for an API call the page says that query and body are neither approved nor signed', () => {
  const html = htmlOf(CALL);
  expect(fact(html, 'Query and body')).toBe('are not part of what you approve: your Agent chooses both');
  expect(fact(html, 'If you approve')).toContain(
    'for a POST request to this address, with any query and any body',
  );
  expect(fact(html, 'If you approve')).not.toContain('for this and nothing else');
  expect(withoutTags(html)).toContain('checked here. No query and no body is signed.');
});

it('for a purchase the page says that the approval is for this purchase only', () => {
  const html = htmlOf(PURCHASE);
  expect(fact(html, 'If you approve')).toContain('for this and nothing else, once');
  expect(withoutTags(html)).not.toMatch(/query|body/i);
});

it('the page lists each character that is not on the Latin keyboard once, with its code point', () => {
  const html = htmlOf({ ...PURCHASE, resource: 'оrder/é/é' });
  expect(html).toContain('may look like others: <code>о U+043E, é U+00E9</code>');
  expect(withoutTags(htmlOf(PURCHASE))).not.toContain('Latin keyboard');
});

describe('a relying party with a name behind its own domain', () => {
  const foreign = 'did:web:pay-secure.example:amazon.com';
  const withoutCode = (html: string): string => html.replace(/<code>.*?<\/code>/gs, '');

  it('is shown by its domain, and its chosen name only within its DID', () => {
    const html = htmlOf(PURCHASE, foreign);
    expect(withoutTags(/<h2.*?<\/h2>/s.exec(html)?.[0] ?? '')).toMatch(/ at pay-secure\.example, once\?$/);
    expect(fact(html, 'If you approve')).toContain('at pay-secure.example alone,');
    expect(html).toContain(`<code>${foreign}</code>`);
    expect(withoutCode(html)).not.toContain('amazon');
    expect(fact(html, 'Who asks')).toContain('It has proven the domain pay-secure.example, or');
    expect(fact(html, 'Who asks')).toContain(
      'The name behind the domain is its own choice, and nothing about',
    );
  });

  it('is shown by its DID on the page after the approval', () => {
    const task = { status: 'approved' };
    const result = { grant_id: 'urn:svc:grant:1', approved_until: '2026-11-20T10:15:00Z' };
    const request = { task, result, relying_party: foreign, reason: null } as unknown as AccessRequest;
    const html = renderToString(h(Decided, { request }));
    expect(html).toContain(`<code>${foreign}</code>`);
    expect(withoutCode(html)).not.toContain('amazon');
  });
});

it('a relying party with a plain domain is shown by it, as proven', () => {
  const html = htmlOf(PURCHASE);
  expect(withoutTags(html)).toContain(' at shop.example, once?');
  expect(fact(html, 'Who asks')).toContain('It has proven its domain, or');
  expect(fact(html, 'Who asks')).not.toContain('choice');
});

it('a relying party whose name the service hosts is shown as that name at the service, chosen by a customer', () => {
  const html = htmlOf(PURCHASE, `${SERVICE}:shop`);
  expect(withoutTags(html)).toContain(' at shop at svc.example, once?');
  expect(fact(html, 'Who asks')).toContain('A customer of svc.example has chosen this name');
});

it.each([
  [-1, 'which is over by the clock of this computer'],
  [1, 'less than a minute from now'],
  [60_000, '1 minute from now'],
  [899_999, '14 minutes from now'],
  [7_199_999, '119 minutes from now'],
  [7_200_000, '2 hours from now'],
  [172_800_000, '2 days from now'],
])('of %d ms never more is said to be left than is: %s', (leftMs, says) => {
  expect(describeLeft(leftMs)).toBe(says);
});
