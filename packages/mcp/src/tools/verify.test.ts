import { readFileSync } from 'node:fs';
import { buildWorld, PURCHASE, serviceDocument } from '@svc/testkit/receipts/world';
import { startServer } from '@svc/testkit/sdk/scripted-server';
import { expect, it } from 'vitest';
import { createTeller } from '../tool-result.ts';
import { createFinder } from './fetch-receipt.ts';
import { createDocument, createExplain, createVerify } from './verify.ts';

it('a fetched document is used for five minutes, and no longer if a newer one cannot be fetched', async () => {
  let nowMs = 0;
  let served: string | null = 'first';
  const fetchDocument = async () => {
    if (served === null) throw new Error('unreachable');
    return served;
  };
  const document = createDocument(
    { document: undefined, did: 'did:web:svc.example' },
    fetchDocument,
    () => nowMs,
  );
  expect(await document()).toBe('first');
  served = 'second';
  nowMs = 299_999;
  expect(await document()).toBe('first');
  nowMs = 300_000;
  expect(await document()).toBe('second');
  served = null;
  nowMs = 600_000;
  await expect(document()).rejects.toThrow('unreachable');
});

it('a genuine Receipt of another decision than requested is neither verified nor explained', async () => {
  const example = (name: string) =>
    readFileSync(new URL(`../../../../examples/bundle/${name}`, import.meta.url), 'utf8');
  const { receipt } = JSON.parse(example('bundle.json'));
  await using server = await startServer(() => ({ json: receipt }));
  const find = createFinder(
    { principal: undefined, relyingParty: { baseUrl: server.baseUrl, apiKey: 'dk_rp_test' } },
    100_000,
  );
  const trust = { document: example('did.json'), did: undefined };
  const tools = [createVerify, createExplain].map((create) =>
    create(trust, createDocument(trust), createTeller([]), false),
  );
  for (const tool of tools) {
    expect(JSON.stringify(await tool(await find(receipt.receipt_id)))).toMatch(/"VALID: |"It is an ALLOW/);
    await expect(tool(await find('drc_01KAFQ0000ABCDEFGHJKMNPQRS'))).rejects.toMatchObject({
      kind: 'bad-response',
      message: `asked for drc_01KAFQ0000ABCDEFGHJKMNPQRS, the service answered with ${receipt.receipt_id}`,
    });
  }
});

it('an excessive amount is explained with the failed check, and with the tool grant_budgets where there is one', async () => {
  const { text } = (await buildWorld({ action: { ...PURCHASE, amount: 10_000_000 } })).signed;
  const trust = { document: JSON.stringify(serviceDocument), did: undefined };
  const explain = (hasBudgets: boolean) =>
    createExplain(trust, createDocument(trust), createTeller([]), hasBudgets)({ text, receiptId: null });
  const { structuredContent } = await explain(true);
  expect(structuredContent.says).toMatch(
    /^DENY, AMOUNT_EXCEEDS_AUTHORITY: .+ grant_budgets tells what is left\.$/,
  );
  expect((await explain(false)).structuredContent.says).not.toContain('grant_budgets');
  expect(structuredContent.data).toMatchObject({
    failed_checks: [
      { check: 'P19', demands: expect.stringContaining('some Capability that passed the checks before') },
    ],
  });
  // Passed checks do not explain the denial.
  expect(structuredContent.data).not.toHaveProperty('checks');
});
