/** A sandbox in the test: the shapes of the interface over the real engine, with real keys and signatures. */
import { evaluateJson, type JsonValue, type ReceiptBody } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { signReceipt } from '@svc/receipts';
import type { Page } from 'playwright-core';
// The world in which the Receipts' own tests play.
import {
  AGENT,
  buildWorld,
  PRINCIPAL,
  PURCHASE,
  receiptSigner,
  SHOP,
} from '../../../../packages/receipts/test/world.ts';

export { serviceDocument } from '../../../../packages/receipts/test/world.ts';

const AUTHORITY = {
  action: 'commerce:purchase',
  constraints: { maxAmount: 50_000, currency: 'USD' },
  resources: ['order/**'],
};
const COMMON = {
  rp: SHOP,
  agent: AGENT,
  principal: PRINCIPAL,
  authority: AUTHORITY,
  grant_lifetime_seconds: 3_600,
  request: { method: 'POST', url: 'https://shop.example/orders' },
};

interface Asked {
  readonly grant: string;
  readonly proof: string;
  readonly action: JsonValue;
}

/** Answers `/demo/…` of a page. */
export const answerSandbox = async (page: Page): Promise<void> => {
  const spent = new Set<string>();
  let revoked = false;
  const mint = async ({ amount = 42_700 }: { amount?: number }) => {
    revoked = false;
    const action = { ...PURCHASE, amount };
    const { grant, proof, body } = await buildWorld({
      action,
      proof: { jti: `jti-of-${spent.size}-${'x'.repeat(20)}` },
    });
    return { ...COMMON, grant, proof, action, grant_id: body.grant_id, valid_until: body.expires_at };
  };
  const verify = async ({ grant, proof, action }: Asked) => {
    const { input } = await buildWorld({ revoked });
    const facts = { ...input.facts, spent: { found: spent.has(proof) } };
    const body = evaluateJson({ ...input, grant, proof, action, facts }, nativeCrypto) as ReceiptBody;
    if (body.decision === 'ALLOW') spent.add(proof);
    return JSON.parse((await signReceipt(body, receiptSigner)).text);
  };
  const answers: Record<string, (body: never) => Promise<unknown>> = {
    info: async () => ({ ...COMMON, amount_cap: 1_000_000_000, rate_limit_per_minute: 30 }),
    mint,
    verify,
    revoke: async ({ grant_id }: { grant_id: string }) => {
      revoked = true;
      return { grant_id, revoked: true, revoked_at: '2026-11-20T08:00:00.123Z' };
    },
  };
  await page.route(/\/demo\/\w+$/, async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
    const answer = await answers[name]?.((route.request().postDataJSON() ?? {}) as never);
    await route.fulfill({ json: answer });
  });
};
