/**
 * The pages in Debian's Chromium, served by the real HTTP frame. Each visit must cause no error or warning, no request
 * to another origin and no finding of axe. The tests take pictures of both colour schemes and of a narrow screen.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { sampled } from '@svc/testkit/sampled';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';

/** The shell is the same engine without windows and uses less; both are Debian's. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
export const hasBrowser = CHROMIUM !== undefined;

export const PAGES_FOLDER = new URL('../../../pages/dist/', import.meta.url);
/** Written only where this is set: whole pages, and `top-…`, the beginning of each, for the README. */
const PICTURES = process.env.PAGES_PICTURES;
const TOP = { x: 0, y: 0, width: 1280, height: 1420 };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 360, height: 740 };

export interface Visit {
  readonly page: Page;
  /** Fails on every error and warning of the visit so far. */
  expectQuiet(): void;
}

/** The files of a worker share one browser, which starts with the first of them. Each visit has its own context. */
const worker = test
  .extend('launched', { scope: 'worker' }, () =>
    chromium.launch({
      ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
      args: ['--no-sandbox', '--disable-background-networking'],
    }),
  )
  .extend('browser', { scope: 'worker' }, async ({ launched }, { onCleanup }) => {
    onCleanup(() => launched.close());
    return launched;
  });

/** Declares that a test file uses the browser; prints what is skipped where there is none. */
export const withBrowser = (what: string) => {
  let browser: Browser | undefined;
  if (!hasBrowser) console.warn(`SKIPPED: ${what} in a browser, because there is no /usr/bin/chromium`);
  else
    worker.beforeAll(({ browser: shared }) => {
      browser = shared;
    });

  /** A new page that may only send requests to `origin`; closed with the test. */
  const visit = async (origin: string, options: BrowserContextOptions = {}): Promise<Visit> => {
    if (browser === undefined) throw new Error('the browser exists from beforeAll on');
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    // Shorter than the test's own timeout, so that the failure names what was awaited.
    page.setDefaultTimeout(45_000);
    const complaints = watch(page, origin);
    return { page, expectQuiet: () => expect(complaints).toEqual([]) };
  };
  return { visit };
};

/** A warning of Redoc, for an answer that is an object or a list of objects. */
const SAMPLER = 'OpenAPI Sampler: found allOf with "array" type. Result may be incorrect';

const watch = (page: Page, origin: string): string[] => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.text() === SAMPLER) return;
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  // The console reports that a request failed, but not which.
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} from ${response.url()}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) complaints.push(`a request to ${url}`);
  });
  return complaints;
};

/**
 * Fails on findings of axe, and where the page is wider than the screen: light and wide, dark and narrow; and takes the
 * pictures. A sample takes one of the two, chosen by the page's name unless it is given.
 */
export const inspect = async (
  page: Page,
  name: string,
  inSample: 'light' | 'dark' | 'none' = name.length % 2 === 0 ? 'light' : 'dark',
): Promise<void> => {
  for (const [look, size, isChecked] of [
    ['light', WIDE, sampled({ quick: inSample === 'light', deep: true })],
    ['dark', NARROW, sampled({ quick: inSample === 'dark', deep: true })],
    ['dark', WIDE, false],
    ['light', NARROW, false],
  ] as const) {
    if (!isChecked && PICTURES === undefined) continue;
    await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' });
    await page.setViewportSize(size);
    if (isChecked) expect([look, await axeFindings(page), await overflow(page)]).toEqual([look, [], 0]);
    if (PICTURES === undefined) continue;
    await takePicture(page, `${name}-${look}${size === NARROW ? '-narrow' : ''}`);
    if (look === 'light' && size === WIDE) await takePicture(page, `top-${name}`, { clip: TOP });
  }
  await page.setViewportSize(WIDE);
};

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Findings of every rule unless one is named, such as `color-contrast`. */
export const axeFindings = async (page: Page, rule?: string): Promise<string[]> => {
  await page.evaluate(AXE);
  const only = rule === undefined ? '' : `{ runOnly: ['${rule}'] }`;
  const { violations } = (await page.evaluate(`axe.run(${only})`)) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
};

/** Pixels by which the page is wider than the screen. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)');

const takePicture = async (page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> => {
  mkdirSync(PICTURES ?? '', { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true, ...options });
};

export const fileOf = (name: string): string => fileURLToPath(new URL(name, PAGES_FOLDER));
