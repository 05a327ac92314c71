/** Text that others wrote is set apart from the page's own, and every character of it is visible. */
import type { Receipt } from '@svc/receipts';
import { bodyOf, signedReceipt } from '@svc/testkit/receipts/signed-receipts';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import { JsonView } from './json-view.tsx';
import { JwsView } from './jws-view.tsx';
import { ReceiptFacts } from './receipt-view.tsx';

const receipt = await signedReceipt(bodyOf('allow-purchase'));
const authorityUsed = (resources: readonly string[], constraints: object): string => {
  const authority = { ...receipt.authority, resources, constraints };
  const html = renderToString(h(ReceiptFacts, { receipt: { ...receipt, authority } as Receipt }));
  return /<dt>Authority used<\/dt><dd>(.*?)<\/dd>/s.exec(html)?.[1] ?? 'not there';
};
const boxed = (text: string) => `<bdo dir="ltr" class="resource">${text}</bdo>`;
const LIMIT = { maxAmount: 90_000, currency: 'USD' };

it('a resource stands in its own box, after uses and limits', () => {
  expect(authorityUsed(['order/7, once'], LIMIT)).toBe(
    `commerce:purchase up to USD\u00a0900.00 on ${boxed('order/7, once')}`,
  );
  expect(authorityUsed(['order/7', 'order/8'], { ...LIMIT, maxUses: 1 })).toBe(
    `commerce:purchase up to USD\u00a0900.00 (once) on ${boxed('order/7')}, ${boxed('order/8')}`,
  );
});

it('invisible characters in a resource are shown as code points', () => {
  expect(authorityUsed(['order/\u202e7\u200b'], LIMIT)).toContain(boxed('order/\\u{202e}7\\u{200b}'));
});

const textOf = (html: string) => html.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"');

it('invisible characters in JSON are shown as code points, and its lines stay', () => {
  const shown = textOf(
    renderToString(h(JsonView, { value: { a: 'x\u202ey\u200b\u00a0', '\u2066': 1 }, label: 'it' })),
  );
  expect(shown).toBe('{\n  "a": "x\\u{202e}y\\u{200b}\\u{a0}",\n  "\\u{2066}": 1\n}');
});

it('right-to-left letters do not change the order of a JSON text', () => {
  const html = renderToString(h(JsonView, { value: ['שלום', 7], label: 'it' }));
  expect(html).toContain('<pre><bdo dir="ltr">');
  expect(textOf(html)).toBe('[\n  "שלום",\n  7\n]');
});

it('a malformed JWS is shown with its invisible characters as code points', () => {
  const shown = textOf(renderToString(h(JwsView, { jws: 'a\u202e.b.c', name: 'Receipt' })));
  expect(shown).toContain('a\\u{202e}.b.c');
  expect(shown).not.toContain('\u202e');
});
