/** Pages whose form is there before their script: what is typed meanwhile is kept. */
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { TOKENS } from '../world/http-fixture.ts';
import { hasBrowser, withBrowser } from './browser.ts';
import { ME } from './dashboard-records.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('what is typed before a script');

const enter = (page: Page) => page.keyboard.press('Enter');

describe.skipIf(!hasBrowser)('a page whose script comes late', () => {
  it.each([
    ['dashboard', 'Key of', 'hello', 'This is no API key', enter],
    ['approve', 'API key of your Principal', TOKENS.principal, 'You are', enter],
    ['verify-receipt', 'Receipt', '{}', 'Not valid', async () => {}],
  ] as const)('/%s keeps what was typed into "%s" before', async (path, field, typed, says, send) => {
    const base = await servePages({
      didDocument: serviceDocument,
      handlers: { getMe: async () => ({ status: 200, body: ME.principal }) },
    });
    const { page, expectQuiet } = await visit(base);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/pages/*.js', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${base}/${path}`, { waitUntil: 'commit' });
    const box = page.locator('input, textarea').and(page.getByLabel(new RegExp(`^${field}`)));
    await box.fill(typed);
    release();
    await page.waitForLoadState('load');
    expect(await box.inputValue()).toBe(typed);
    await send(page);
    await page.getByText(says).first().waitFor();
    expectQuiet();
  });
});
