/** What a person reads before an approval is signed. */
import type { AccessRequest, CheckedAccessRequest } from '@svc/sdk-principal';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import { Wish } from './wish.tsx';

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
/** What stands beside this term. */
const fact = (html: string, term: string): string =>
  withoutTags(new RegExp(`<dt>${term}</dt><dd>(.*?)</dd>`, 's').exec(html)?.[1] ?? 'not there');

it('of a call to an API it says that query and body are no part of what is approved, nor of what was signed', () => {
  const html = htmlOf(CALL);
  expect(fact(html, 'Query and body')).toBe('are not part of what you approve: your Agent chooses both');
  expect(fact(html, 'If you approve')).toContain(
    'for a POST request to this address, with any query and any body',
  );
  expect(fact(html, 'If you approve')).not.toContain('for this and nothing else');
  expect(withoutTags(html)).toContain('checked here. No query and no body is signed.');
});

it('of a purchase it says that it is for this and nothing else', () => {
  const html = htmlOf(PURCHASE);
  expect(fact(html, 'If you approve')).toContain('for this and nothing else, once');
  expect(withoutTags(html)).not.toMatch(/query|body/i);
});
