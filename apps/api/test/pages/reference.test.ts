/** The reference: the OpenAPI document that is served, and the page that shows it, in a real browser. */
import { existsSync, readFileSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-node.ts';
import { withProcesses } from '../world/deployment.ts';

const CHROMIUM = '/usr/bin/chromium';
const deployment = withProcesses();
let browser: Browser | undefined;
afterAll(() => browser?.close());

it('/openapi.json is docs/openapi.json with the address of this deployment, readable from any page', async () => {
  const committed = JSON.parse(
    readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'),
  );
  const { json, headers } = await deployment.call('GET', '/openapi.json');
  expect(json).toEqual({ ...committed, servers: [{ url: `http://${DOMAIN}` }] });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'access-control-allow-origin': '*',
  });
});

const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) console.warn(`SKIPPED: /docs in a browser, because there is no ${CHROMIUM}`);

describe.skipIf(!hasBrowser)('/docs in Chromium', () => {
  it('shows every operation without a console message of error or warning and without a request to elsewhere', async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    const { baseUrl } = deployment.process;
    const complaints: string[] = [];
    const elsewhere: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.url()} ${response.status()}`);
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${baseUrl}/`) && !/^(data|blob):/.test(url)) elsewhere.push(url);
    });
    await page.goto(`${baseUrl}/docs`);
    await page.getByRole('heading', { name: 'Verify that an Agent may do one thing' }).waitFor();
    const text = (await page.locator('body').textContent()) ?? '';
    const { paths } = (await deployment.call('GET', '/openapi.json')).json as {
      paths: Record<string, Record<string, { summary: string }>>;
    };
    const summaries = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ summary }) => summary),
    );
    expect(summaries.length).toBeGreaterThan(10);
    expect(summaries.filter((summary) => !text.includes(summary))).toEqual([]);
    expect([complaints, elsewhere]).toEqual([[], []]);
  });
});
