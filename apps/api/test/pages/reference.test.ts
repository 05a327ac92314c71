/** The API reference: the OpenAPI document that is served, and the page that shows it, in a real browser. */
import { readFileSync } from 'node:fs';
import { isDeep } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-node.ts';
import { withSeparateNodes } from '../world/deployment.ts';
import { axeFindings, hasBrowser, inspect, withBrowser } from './browser.ts';

const deployment = withSeparateNodes();
const { visit } = withBrowser('the reference');

it('/openapi.json is docs/openapi.json with the address of this deployment, and allows every origin', async () => {
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

const VERIFY = 'Verify that an Agent may do one thing';

describe.skipIf(!hasBrowser)('/docs', () => {
  it('lists the operations before Redoc is loaded, without accessibility findings', async () => {
    const { baseUrl } = deployment.process;
    const { page, expectQuiet } = await visit(baseUrl);
    await page.goto(`${baseUrl}/docs`);
    await page.getByRole('link', { name: VERIFY }).waitFor();
    expect(
      await page.evaluate("performance.getEntriesByType('resource').map((one) => one.name).join()"),
    ).not.toContain('redoc');
    await inspect(page, 'reference');
    await page.getByRole('link', { name: 'svc start page' }).click();
    await page.getByRole('heading', { name: 'Where to go' }).waitFor();
    await inspect(page, 'start');
    expectQuiet();
  });

  const open = async (colorScheme: 'light' | 'dark' = 'light') => {
    const { baseUrl } = deployment.process;
    const visited = await visit(baseUrl, { colorScheme, viewport: { width: 1400, height: 1000 } });
    await visited.page.goto(`${baseUrl}/docs`);
    await visited.page.getByRole('link', { name: VERIFY }).click();
    await visited.page.getByRole('heading', { name: VERIFY }).waitFor();
    return visited;
  };

  it.runIf(isDeep)(
    'shows every operation with samples for curl, TypeScript and Python, and a link to the start page',
    async () => {
      const { page, expectQuiet } = await open();
      const text = (await page.locator('body').textContent()) ?? '';
      const { paths } = (await deployment.call('GET', '/openapi.json')).json as {
        paths: Record<string, Record<string, { summary: string }>>;
      };
      const summaries = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ summary }) => summary),
      );
      expect(summaries.length).toBeGreaterThan(10);
      expect(summaries.filter((summary) => !text.includes(summary))).toEqual([]);
      for (const label of ['curl', 'TypeScript', 'Python'])
        expect(await page.getByRole('tab', { name: label, exact: true }).count()).toBe(summaries.length);
      expectQuiet();
      await page.getByRole('link', { name: 'svc start page' }).click();
      await page.getByRole('heading', { name: 'Where to go' }).waitFor();
      expectQuiet();
    },
  );

  const screens: [string, number][] = [
    ['a phone', 390],
    ['a desk', 1_400],
  ];
  it.runIf(isDeep).each(screens)(
    'keeps its header in view on %s after scrolling, and the header does not cover the heading',
    async (_, width) => {
      const { baseUrl } = deployment.process;
      const { page, expectQuiet } = await visit(baseUrl, { viewport: { width, height: 800 } });
      await page.goto(`${baseUrl}/docs#tag/Verify/operation/verify`);
      const heading = page.getByRole('heading', { name: VERIFY });
      const home = page.getByRole('link', { name: 'svc start page' });
      const top = page.getByRole('banner');
      await heading.waitFor();
      // Redoc scrolls to the operation once it has rendered.
      await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(1_000);
      const header = await top.boundingBox();
      expect(header).toMatchObject({ y: 0, width });
      expect(header?.height).toBeLessThan(80);
      await expect
        .poll(async () => (await heading.boundingBox())?.y ?? 0)
        .toBeGreaterThanOrEqual(header?.height ?? 0);
      await home.click({ timeout: 5_000 });
      await page.getByRole('heading', { name: 'Where to go' }).waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'has sufficient contrast in the dark and in the light colour scheme',
    async () => {
      for (const scheme of ['dark', 'light'] as const) {
        const { page } = await open(scheme);
        // Colours of arrows, which axe does not check.
        const colours = `[getComputedStyle(document.querySelector('#redoc h5 + svg polygon')).fill, getComputedStyle(document.querySelector('#redoc h5')).color]`;
        const [arrow, title] = (await page.evaluate(colours)) as string[];
        expect(arrow).toBe(title);
        expect(await axeFindings(page, 'color-contrast')).toEqual([]);
      }
    },
    240_000,
  );

  it('lists the operations and shows an error where Redoc cannot be loaded', async () => {
    const { baseUrl } = deployment.process;
    const { page } = await visit(baseUrl);
    await page.route(/redoc/, (route) => route.abort());
    await page.goto(`${baseUrl}/docs#tag/Verify/operation/verify`);
    await page.getByRole('alert').getByText('could not be shown').waitFor();
    expect(await page.locator('#reference').textContent()).toContain('POST /verify');
  }, 240_000);
});
