/**
 * The guide as it is served: every link leads to something, every code has its page, and every reader can read and
 * search it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ERROR_CODES, ERROR_REMEDY } from '@svc/contract';
import { REASON_CODES } from '@svc/protocol';
import { REMEDIES } from '@svc/protocol/explain';
import { ERROR_KINDS } from '@svc/sdk-core/errors';
import { KIND_TEXTS, REFUSAL_TEXTS } from '@svc/sdk-core/help-texts';
import { REFUSAL_CODES } from '@svc/sdk-core/refusal-codes';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasBrowser, inspect, NARROW, PAGES_FOLDER, withBrowser } from './browser.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('the guide');
const serve = () => servePages({ didDocument: {} });

/** Every file of the guide, by its address. */
const files = new Map(
  ['guide.html', 'guide.md', 'llms.txt', ...listFiles('guide/')].map((name) => [
    name.replace(/\.html$/, ''),
    readFileSync(new URL(name, PAGES_FOLDER), 'utf8'),
  ]),
);
function listFiles(folder: string): readonly string[] {
  return readdirSync(new URL(folder, PAGES_FOLDER), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listFiles(`${folder}${entry.name}/`) : [folder + entry.name],
  );
}
const pages = [...files].filter(([address]) => !/\.(?:md|txt)$/.test(address));

it('every page also exists as Markdown, and llms.txt lists it with a sentence', () => {
  const llms = [files.get('llms.txt'), files.get('guide/llms.txt')];
  for (const [address] of pages) {
    expect(files.get(`${address}.md`), address).toMatch(/^# /m);
    expect(llms[0]).toContain(`](${address}.md)`);
    const below = address === 'guide' ? '../guide.md' : `${address.slice('guide/'.length)}.md`;
    expect(llms[1]).toContain(`](${below})`);
  }
  const entries = llms.flatMap((text = '') => text.split('\n').filter((line) => line.startsWith('- ')));
  expect(entries.length).toBe(2 * pages.length);
  // Each entry has a whole sentence.
  expect(entries.filter((entry) => !/^- \[[^\]]+\]\([^)]+\.md\): [^ ].*[.?!]$/.test(entry))).toEqual([]);
  expect([...files.keys()].filter((name) => name.endsWith('.md') && !files.has(name.slice(0, -3)))).toEqual(
    [],
  );
  expect(pages.length).toBeGreaterThan(100);
});

it('all links and anchors in pages, in their Markdown and in llms.txt exist', async () => {
  const base = await serve();
  const ids = new Map(
    pages.map(([address, html]) => [
      address,
      new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const links = [...files].flatMap(([address, text]) =>
    [...text.matchAll(/\.(?:md|txt)$/.test(address) ? /\]\(([^)\s]+)\)/g : / (?:href|src)="([^"]+)"/g)]
      .map(([, target = '']) => target.replaceAll('&amp;', '&'))
      // Text shown as code contains no links, and files of the repository are named in it by their path.
      .filter((target) => !/^(?:https?:|data:|mailto:)/.test(target))
      .map((target) => ({ address, target, url: new URL(target, `${base}/${address}`) })),
  );
  const found = new Map<string, boolean>();
  for (const { url } of links)
    if (!found.has(url.pathname)) {
      const known = files.has(decodeURIComponent(url.pathname.slice(1)));
      const accept = { accept: 'text/html' };
      found.set(
        url.pathname,
        known || (await fetch(base + url.pathname, { headers: accept })).status === 200,
      );
    }
  const isBroken = ({ url }: (typeof links)[number]) => {
    if (!found.get(url.pathname)) return true;
    const place = ids.get(url.pathname.slice(1).replace(/\.md$/, ''));
    return url.hash !== '' && place !== undefined && !place.has(decodeURIComponent(url.hash.slice(1)));
  };
  expect(links.length).toBeGreaterThan(1_000);
  for (const name of ['docs', 'openapi.json', 'llms.txt'])
    expect(
      links.some(({ address, target }) => address === 'guide' && target === name),
      name,
    ).toBe(true);
  expect(links.filter(isBroken).map(({ address, target }) => `${address}: ${target}`)).toEqual([]);
});

it('a 404 page has a main element, the styles and working links, at every depth of path', async () => {
  const base = await serve();
  for (const path of ['/nobody', '/guide/start/nobody']) {
    const answer = await fetch(base + path, { headers: { accept: 'text/html' } });
    const html = await answer.text();
    expect([answer.status, html]).toEqual([404, expect.stringContaining('<main id="content"')]);
    const links = [...html.matchAll(/ href="([^"]+)"/g)].map(
      ([, target = '']) => new URL(target, base + path),
    );
    const own = links.filter(({ protocol, hash }) => protocol !== 'data:' && hash === '');
    const statuses = own.map(async (url) => (await fetch(url, { headers: { accept: 'text/html' } })).status);
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
    const { pathname: style = '' } = own.find(({ pathname }) => pathname.endsWith('.css')) ?? {};
    expect(files.get('guide')).toContain(style.slice(1));
    for (const to of ['/', '/guide', '/docs', '/llms.txt', '/guide/errors/NOT_FOUND'])
      expect(
        own.some(({ pathname }) => pathname === to),
        to,
      ).toBe(true);
  }
});

it('codes in headings can wrap at underscores, and the contents have no heading Guide', () => {
  expect(files.get('guide/reasons/AMOUNT_EXCEEDS_AUTHORITY')).toMatch(
    /<h1 [^>]*>(?:<code>)?AMOUNT_<wbr>EXCEEDS_<wbr>AUTHORITY</,
  );
  expect(files.get('guide')).not.toContain('<h2>Guide</h2>');
});

it('every error code, reason, refusal code and error kind has a page with its remedy', () => {
  const told = [
    ...ERROR_CODES.map((code) => [`guide/errors/${code}`, ERROR_REMEDY[code]] as const),
    ...REASON_CODES.map((code) => [`guide/reasons/${code}`, REMEDIES[code]] as const),
    ...REFUSAL_CODES.map((code) => [`guide/errors/${code}`, REFUSAL_TEXTS[code].remedy] as const),
    ...ERROR_KINDS.map((kind) => [`guide/kinds/${kind}`, KIND_TEXTS[kind].remedy] as const),
  ];
  for (const [address, remedy] of told) {
    expect(files.has(address), address).toBe(true);
    // For readers of the Markdown, links among codes are written out.
    const [first = ''] = remedy.split('](');
    const markdown = files.get(`${address}.md`) ?? '';
    expect(markdown.slice(markdown.indexOf('## What to do'))).toContain(first);
  }
});

it.runIf(isDeep)(
  'the guide written alone is a complete site: every link leads to one of its files',
  async () => {
    const to = mkdtempSync(join(tmpdir(), 'svc-guide-alone-'));
    onTestFinished(() => rmSync(to, { recursive: true }));
    const cwd = fileURLToPath(new URL('../', PAGES_FOLDER));
    const program = ['--conditions=svc-source', '--import', import.meta.resolve('tsx'), 'guide/build.ts'];
    await promisify(execFile)(process.execPath, [...program, '--to', to], { cwd, timeout: 120_000 });
    const written = readdirSync(to, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(to, join(entry.parentPath, entry.name)));
    const addresses = new Set([
      '/',
      ...written.flatMap((name) => [`/${name}`, `/${name.replace(/\.html$/, '')}`]),
    ]);
    const broken = written
      .filter((name) => name.endsWith('.html'))
      .flatMap((name) =>
        [...readFileSync(join(to, name), 'utf8').matchAll(/ (?:href|src|data-index)="([^"#]+)[#"]/g)]
          .map(([, target = '']) => new URL(target.replaceAll('&amp;', '&'), `file:///${name}`))
          .filter(
            ({ protocol, pathname }) => protocol === 'file:' && !addresses.has(decodeURIComponent(pathname)),
          )
          .map(({ pathname }) => `${name}: ${pathname}`),
      );
    expect(written).toContain('index.html');
    expect(broken).toEqual([]);
  },
  180_000,
);

describe.skipIf(!hasBrowser)('the guide in a browser', () => {
  /** Each page in both colour schemes in a deep run; in the sample one page in one of them. */
  const LOOKED_AT: readonly (readonly [address: string, look: 'light' | 'dark'])[] = isDeep
    ? pages.map(([address]) => [address, 'light'])
    : [['guide/start/relying-party', 'dark']];

  it.each(LOOKED_AT)('page /%s has no accessibility findings', async (address, look) => {
    const base = await serve();
    const { page, expectQuiet } = await visit(base);
    await page.goto(`${base}/${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await inspect(page, address.replaceAll('/', '-'), look);
    expectQuiet();
  });

  it('can be searched with the keyboard only', async () => {
    const base = await serve();
    const { page, expectQuiet } = await visit(base);
    await page.goto(`${base}/guide/reasons/GRANT_EXPIRED`);
    await page.keyboard.press('/');
    await page.keyboard.type('proof replayed');
    const first = page.locator('.found a').first();
    await expect.poll(() => first.textContent()).toContain('PROOF_REPLAYED');
    // Pages that say how something is done come before pages that say why it is built so.
    await page.getByRole('searchbox').fill('revoke');
    await expect.poll(() => first.textContent()).toContain('Start as a Principal');
    expect((await page.locator('.found a').allTextContents()).slice(0, 5).join()).not.toMatch(/\d\. /);
    await page.getByRole('searchbox').fill('proof replayed');
    await expect.poll(() => first.textContent()).toContain('PROOF_REPLAYED');
    await inspect(page, 'guide-search', 'none');
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'PROOF_REPLAYED' }).waitFor();
    expectQuiet();
  });

  it.runIf(isDeep)(
    'announces search results to screen readers; Enter opens the first, arrow keys move, Escape closes',
    async () => {
      const base = await serve();
      const { page, expectQuiet } = await visit(base, { viewport: NARROW });
      await page.goto(`${base}/guide`);
      const input = page.getByRole('searchbox', { name: 'Search the guide' });
      const [status, links] = [page.getByRole('status'), page.locator('.found a')];
      const focused = () => page.evaluate('document.activeElement?.textContent');
      await input.fill('revocation');
      await expect
        .poll(() => status.textContent())
        .toMatch(/^[0-9]+ places, the nearest first\. Enter opens/);
      const [first, second] = await links.allTextContents();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe(second);
      await page.keyboard.press('ArrowUp');
      expect(await focused()).toBe(first);
      await page.keyboard.press('ArrowUp');
      expect(await page.evaluate('document.activeElement?.id')).toBe('find');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      expect(await page.locator('.found').isHidden()).toBe(true);
      expect(await page.evaluate('document.activeElement?.id')).toBe('find');
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => page.locator('.found').isHidden()).toBe(false);
      await input.fill('grant expired');
      await page.keyboard.press('Enter');
      await page.waitForURL(/GRANT_EXPIRED/);
      expectQuiet();
    },
  );

  it.each(sampleOf(['guide/errors', 'guide/reasons', 'guide/kinds'], 1))(
    'the tables of /%s fit a screen 360 pixels wide',
    async (address) => {
      const base = await serve();
      const { page } = await visit(base, { viewport: { width: 360, height: 800 } });
      await page.goto(`${base}/${address}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const overflows =
        "[...document.querySelectorAll('.wide')].map((one) => one.scrollWidth - one.clientWidth)";
      const perTable = (await page.evaluate(overflows)) as number[];
      expect(perTable.length).toBeGreaterThan(0);
      expect(perTable.filter((pixels) => pixels > 0)).toEqual([]);
    },
  );

  it.runIf(isDeep)(
    'a table wider than the screen has a shadow at its right edge until it is scrolled to its end',
    async () => {
      const base = await serve();
      const { page } = await visit(base, { viewport: { width: 360, height: 800 } });
      await page.goto(`${base}/guide/agent-protocols`);
      const table = "document.querySelector('.wide')";
      // Leaves only the shadow visible.
      await page.evaluate(`${table}.firstElementChild.style.visibility = 'hidden'`);
      await page.evaluate(`${table}.scrollIntoView()`);
      const { x = 0, y = 0, width = 0 } = (await page.locator('.wide').first().boundingBox()) ?? {};
      const look = () => page.screenshot({ clip: { x: x + width - 10, y: y + 5, width: 10, height: 5 } });
      const goesOn = await look();
      await page.evaluate(`${table}.scrollLeft = ${table}.scrollWidth`);
      const atEnd = await look();
      expect(goesOn.equals(atEnd)).toBe(false);
      await page.evaluate(`${table}.style.background = 'none'`);
      expect((await look()).equals(atEnd)).toBe(true);
    },
  );

  it.runIf(isDeep)(
    'can be navigated with the keyboard only: past the header to the text, and to another page',
    async () => {
      const base = await serve();
      const { page, expectQuiet } = await visit(base, { viewport: NARROW });
      await page.goto(`${base}/guide`);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement?.id')).toBe('content');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate("document.activeElement?.closest('nav')?.id")).toBe('contents');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/guide\/start\/relying-party$/);
      expectQuiet();
    },
  );

  it.runIf(isDeep)('can be read without JavaScript', async () => {
    const base = await serve();
    const { page } = await visit(base, { javaScriptEnabled: false });
    await page.goto(`${base}/guide/protocol`);
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    await page.waitForURL(/\/guide\/operations$/);
  });
});
