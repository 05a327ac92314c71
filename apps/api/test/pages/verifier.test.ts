/** `/verify-receipt`: the tab checks a Receipt, whatever was done to it, and sends nothing. */

import { signedBundle } from '@svc/testkit/receipts/signed-bundle';
import {
  bodyOf,
  forgedDocument,
  SERVICE,
  serviceDocument,
  signedReceipt,
  signerOf,
} from '@svc/testkit/receipts/signed-receipts';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { fileOf, hasBrowser, inspect, withBrowser } from './browser.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('the verifier');
const allow = await signedReceipt(bodyOf('allow-purchase'));
const deny = await signedReceipt(bodyOf('everything-wrong'));
/** Header and payload are the service's; the key is another one. */
const forged = await signedReceipt(bodyOf('allow-purchase'), undefined, signerOf(9));

/** Opens the page on a service whose DID document belongs to the Receipts. */
const open = async (fragment = '', hasFakeClock = false) => {
  const base = await servePages({ didDocument: serviceDocument });
  const visited = await visit(base);
  if (hasFakeClock) await visited.page.clock.install();
  await visited.page.goto(`${base}/verify-receipt${fragment}`);
  await visited.page.getByText('the service that serves this page').waitFor();
  return { ...visited, base };
};

const receiptBox = (page: Page) => page.getByRole('textbox', { name: 'Receipt' });
/** Drops files with these texts on the page together, in this order. */
const drop = (page: Page, ...texts: readonly string[]) => {
  const files = texts.map(
    (text, i) => `data.items.add(new File([${JSON.stringify(text)}], 'file-${i}.json'));`,
  );
  return page.evaluate(`{ const data = new DataTransfer(); ${files.join('\n')}
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })) }`);
};
const verdict = (page: Page) => page.getByRole('region', { name: 'Verdict' });
const wrongParts = (page: Page) =>
  page
    .locator('[data-state=wrong]')
    .evaluateAll((parts) => parts.map((part) => part.getAttribute('data-part')));

describe.skipIf(!hasBrowser)('the served verifier', () => {
  it('shows a Receipt as valid, with its 24 checks and its decoded JWS', async () => {
    const { page, expectQuiet } = await open();
    await receiptBox(page).fill(JSON.stringify(allow));
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    expect(await wrongParts(page)).toEqual([]);
    await page.getByText('24 passed').waitFor();
    expect(await page.getByRole('region', { name: 'Payload of the Receipt' }).textContent()).toContain(
      allow.receipt_id,
    );
    await inspect(page, 'verifier-valid');
    expectQuiet();
  });

  it.runIf(isDeep)('shows the Receipt of a DENY as valid, with the reason of a failed check', async () => {
    const { page, expectQuiet } = await open(`#jws=${deny.receipt}`);
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    await page.getByText('The Grant cannot be read').waitFor();
    await inspect(page, 'verifier-deny');
    expectQuiet();
  });

  const tampered: [string, object][] = [
    ['signature', { ...allow, receipt: allow.receipt.replace(/[^.]+$/, 'A'.repeat(86)) }],
    ['jws', { ...allow, receipt: undefined }],
    ['shown', { ...deny, decision: 'ALLOW', reason: null }],
    [
      'shown',
      { ...allow, authority: { ...allow.authority, constraints: { maxAmount: 1e9, currency: 'USD' } } },
    ],
  ];
  it.each(sampleOf(tampered, 1))(
    'shows a tampered Receipt as not valid, with the wrong part %s',
    async (part, tampered) => {
      const { page, expectQuiet } = await open();
      await receiptBox(page).fill(JSON.stringify(tampered));
      await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
      expect(await wrongParts(page)).toContain(part);
      if (part === 'signature') await inspect(page, 'verifier-invalid', 'none');
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'shows an example, and asks for the DID document of another service when a Receipt names one',
    async () => {
      const { page, expectQuiet } = await open();
      await page.getByRole('button', { name: 'Try an example' }).click();
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      await page.getByText('the example, whose service does not exist').waitFor();
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByText('the service that serves this page').waitFor();
      const other = JSON.stringify({ ...serviceDocument, id: 'did:web:other.test' });
      const give = page.getByLabel(/well-known.did.json, from a channel/);
      expect(await give.isVisible()).toBe(false);
      await page.getByText('Use another document').click();
      await give.fill(other);
      await page.getByText('Use another document').click();
      await receiptBox(page).fill(JSON.stringify(allow));
      await page.getByText('This Receipt names another service').waitFor();
      await give.fill(JSON.stringify(serviceDocument));
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)('shows {} as not valid, and marks no unchecked part as ok', async () => {
    const { page } = await open();
    await receiptBox(page).fill('{}');
    await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
    expect(await page.locator('[data-state=ok]').allTextContents()).toEqual([
      expect.stringContaining('one JSON object'),
    ]);
  });

  it.runIf(isDeep)(
    'does not decide with an invalid DID document, and does not keep the result of the one before',
    async () => {
      const { page, expectQuiet } = await open();
      await receiptBox(page).fill(JSON.stringify(allow));
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      await page.getByText('Use another document').click();
      const give = page.getByLabel(/did\.json, from a channel/);
      await give.fill('{"id":"did:web:other.test"');
      await page.getByText('This is not a DID document').waitFor();
      await verdict(page).getByRole('heading', { name: 'Not decided' }).waitFor();
      expect(await page.locator('[data-part=signature]').getAttribute('data-state')).toBe('unchecked');
      expect(await give.isVisible()).toBe(true);
      await inspect(page, 'verifier-refused-document');
      await give.fill('');
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)('accepts a chosen file and a dropped file', async () => {
    const { page, expectQuiet } = await open();
    await page.getByLabel('Choose a file').setInputFiles({
      name: 'receipt.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(allow)),
    });
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    await drop(page, JSON.stringify({ ...allow, decision: 'DENY' }));
    await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
    expectQuiet();
  });

  it('does not use a DID document from a file to verify a Receipt', async () => {
    const { page, expectQuiet } = await open();
    await drop(page, JSON.stringify(forged), JSON.stringify(forgedDocument));
    await page.getByRole('alert').getByText('is not used').waitFor();
    await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
    expect(await wrongParts(page)).toEqual(['signature']);
    await page.getByText('the service that serves this page').waitFor();
    await inspect(page, 'verifier-forged', 'none');
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByLabel('Choose a file').setInputFiles({
      name: 'did.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(forgedDocument)),
    });
    await page.getByRole('alert').getByText('is not used').waitFor();
    await receiptBox(page).fill(JSON.stringify(forged));
    await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
    expect(await wrongParts(page)).toEqual(['signature']);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'warns when a pasted DID document has the id of the fetched one and other keys',
    async () => {
      const { page, expectQuiet } = await open();
      await page.getByText('Use another document').click();
      const give = page.getByLabel(/did\.json, from a channel/);
      const warning = page.getByRole('alert').getByText('has other keys');
      await give.fill(JSON.stringify(forgedDocument));
      await warning.waitFor();
      await inspect(page, 'verifier-other-keys');
      await give.fill(JSON.stringify(serviceDocument));
      await warning.waitFor({ state: 'detached' });
      expectQuiet();
    },
  );

  it.runIf(isDeep)('does not use the DID document of the example for a Receipt in the URL', async () => {
    const { page, expectQuiet } = await open();
    await page.getByRole('button', { name: 'Try an example' }).click();
    await page.getByText('the example, whose service does not exist').waitFor();
    await page.evaluate(`location.hash = '#jws=${deny.receipt}'`);
    await page.getByText('The Grant cannot be read').waitFor();
    await page.getByText('the service that serves this page').waitFor();
    expectQuiet();
  });

  it.runIf(isDeep)(
    'verifies a bundle, and shows artifacts as the wrong part when one was changed',
    async () => {
      const { page, expectQuiet } = await open();
      const bundle = await signedBundle();
      await page.getByText('Use another document').click();
      await page.getByLabel(/did\.json, from a channel/).fill(JSON.stringify(bundle.did_document));
      await receiptBox(page).fill(JSON.stringify(bundle));
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      await inspect(page, 'verifier-bundle');
      const [first, ...others] = bundle.evidence;
      await receiptBox(page).fill(
        JSON.stringify({ ...bundle, evidence: [{ ...first, body: `${first?.body} ` }, ...others] }),
      );
      await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
      expect(await wrongParts(page)).toEqual(['artifacts']);
      expectQuiet();
    },
  );

  it.runIf(isDeep)('shows another Receipt when the URL fragment changes', async () => {
    const { page, expectQuiet } = await open(`#jws=${deny.receipt}`);
    await page.getByText('The Grant cannot be read').waitFor();
    await page.evaluate(`location.hash = '#jws=${allow.receipt}'`);
    await page.getByText('24 passed').waitFor();
    expectQuiet();
  });

  /** Replaces the payload by text that was never signed. */
  const withPayload = (payload: string) => ({
    ...allow,
    receipt: [allow.receipt.split('.')[0], Buffer.from(payload).toString('base64url'), 'AAAA'].join('.'),
  });
  const nested = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const hostile: [string, () => unknown, string][] = [
    ['a payload a hundred thousand levels deep', () => withPayload(nested), 'jws'],
    ['a payload of hundreds of thousands of members', () => withPayload(`[${'1,'.repeat(300_000)}1]`), 'jws'],
    ['markup', () => ({ ...allow, agent: '<img src=x onerror=alert(1)>' }), 'shown'],
    ['a prototype', () => JSON.stringify(allow).replace('{', '{"__proto__":{"decision":"DENY"},'), 'shown'],
    [
      'a hundred thousand files that are none',
      () => ({
        receipt: allow,
        inclusion: {},
        checkpoint: {},
        did_document: {},
        evidence: Array(1e5).fill({}),
      }),
      'artifacts',
    ],
  ];
  // In a sample the packages test such inputs: receipts, verify/handed-in.test.ts.
  it.runIf(isDeep).each(hostile)(
    'shows an input with %s as not valid, and verifies the next Receipt',
    async (_, make, part) => {
      const { page, expectQuiet } = await open();
      const given = make();
      await page.getByLabel('Choose a file').setInputFiles({
        name: 'receipt.json',
        mimeType: 'application/json',
        buffer: Buffer.from(typeof given === 'string' ? given : JSON.stringify(given)),
      });
      await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
      expect(await wrongParts(page)).toContain(part);
      expect(await page.locator('main *').count()).toBeLessThan(20_000);
      await page.getByRole('button', { name: 'Clear' }).click();
      await receiptBox(page).fill(JSON.stringify(allow));
      await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)('refuses a file that is larger than any bundle', async () => {
    const { page, expectQuiet } = await open();
    const makeFile = `new File([new Uint8Array(100 * 2 ** 20)], 'big.json')`;
    await page.evaluate(`{ const data = new DataTransfer(); data.items.add(${makeFile});
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })) }`);
    await page.getByText('big.json is no file, or larger').waitFor();
    expectQuiet();
  });

  it('sends no request when it verifies a Receipt', async () => {
    const { page } = await open();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    await receiptBox(page).fill(JSON.stringify(allow));
    await verdict(page).waitFor();
    expect(sent).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the served verifier in a tab that stays open', () => {
  const DID_DOCUMENT = '**/.well-known/did.json';

  it('fetches a newer DID document once for an unknown key, keeps the old one on failure, and drops verdicts after five minutes until it has a new one', async () => {
    const { page } = await open('', true);
    let asked = 0;
    await page.route(DID_DOCUMENT, (route) => {
      asked += 1;
      return route.fulfill({ status: 503 });
    });
    const later = await signedReceipt(
      bodyOf('allow-purchase'),
      undefined,
      signerOf(1, `${SERVICE}#receipt-2`),
    );
    const refused = page.waitForResponse(DID_DOCUMENT);
    await receiptBox(page).fill(JSON.stringify(later));
    await refused;
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    await receiptBox(page).fill(JSON.stringify(later, null, 2));
    await verdict(page).getByRole('heading', { name: 'Not decided' }).waitFor();
    await receiptBox(page).fill(JSON.stringify(allow));
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    expect(asked).toBe(1);

    const waiting: Route[] = [];
    await page.route(DID_DOCUMENT, (route) => void waiting.push(route));
    await page.clock.fastForward(300_000);
    await verdict(page).getByRole('heading', { name: 'Not decided' }).waitFor();
    await receiptBox(page).fill(JSON.stringify(allow, null, 2));
    await page.getByText('Fetching it from this service').waitFor();
    expect(await page.getByRole('heading', { name: 'Valid', exact: true }).count()).toBe(0);
    await expect.poll(() => waiting.length).toBe(1);
    await waiting[0]?.continue();
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
  });
});

describe.skipIf(!hasBrowser)('the verifier as one file from disk', () => {
  let url: string;
  beforeAll(() => {
    url = `file://${fileOf('verify-receipt-offline.html')}`;
  });

  it.runIf(isDeep)('decides once it has a pasted DID document, and sends no request', async () => {
    const { page, expectQuiet } = await visit(url);
    await page.goto(url);
    await receiptBox(page).fill(JSON.stringify(allow));
    await verdict(page).getByRole('heading', { name: 'Not decided' }).waitFor();
    await inspect(page, 'verifier-offline');
    await page.getByLabel(/did\.json, from a channel/).fill(JSON.stringify(serviceDocument));
    await verdict(page).getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    await receiptBox(page).fill(JSON.stringify({ ...allow, agent: 'did:key:z6Mkx' }));
    await verdict(page).getByRole('heading', { name: 'Not valid' }).waitFor();
    expect(await wrongParts(page)).toEqual(['shown']);
    expectQuiet();
  });
});
