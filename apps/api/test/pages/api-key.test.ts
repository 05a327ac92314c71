/** The API key of a tab, which `/dashboard` and `/approve` share. */
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/http/api-error.ts';
import { TOKENS } from '../world/http-fixture.ts';
import { hasBrowser, withBrowser } from './browser.ts';
import { ME } from './dashboard-records.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('the API key of a tab');
const PAGES = [
  ['dashboard', /^Key of/],
  ['approve', 'API key of your Principal'],
] as const;

describe.skipIf(!hasBrowser)('the API key of a tab', () => {
  it('opens /approve after /dashboard, until one of them forgets it', async () => {
    const base = await servePages({
      didDocument: serviceDocument,
      handlers: { getMe: async () => ({ status: 200, body: ME.principal }) },
    });
    const { page } = await visit(base);
    await page.goto(`${base}/dashboard`);
    await page.getByLabel(/^Key of/).fill(TOKENS.principal);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Forget the key' }).waitFor();
    await page.goto(`${base}/approve`);
    await page.getByRole('button', { name: 'Forget the API key' }).click();
    await page.goto(`${base}/dashboard`);
    await page.getByLabel(/^Key of/).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
  });

  it.each(PAGES)('is forgotten by /%s once the service does not know it any more', async (path, field) => {
    let isKnown = true;
    const base = await servePages({
      didDocument: serviceDocument,
      handlers: {
        getMe: async () => {
          if (!isKnown) throw new ApiError('UNAUTHORIZED', 'no such key');
          return { status: 200, body: ME.principal };
        },
      },
    });
    const { page } = await visit(base);
    await page.goto(`${base}/${path}`);
    await page.getByLabel(field).fill(TOKENS.principal);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Forget/ }).waitFor();
    isKnown = false;
    await page.reload();
    await page
      .getByRole('alert')
      .getByText(/no such key/i)
      .waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
  });
});
