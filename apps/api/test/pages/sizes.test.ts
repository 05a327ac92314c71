/** Bytes that a browser loads over the network before each page can be used: an increase fails a test. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { expect, it } from 'vitest';
import { PAGES_FOLDER } from './browser.ts';

const KB = 1_000;
const BUDGETS_KB = {
  index: 6,
  docs: 10,
  playground: 52,
  'verify-receipt': 61,
  transparency: 30,
  dashboard: 17,
  approve: 68,
} as const;

/** Files that the build has compressed are served so. */
const sizeOf = (name: string): number => statSync(new URL(`encoded/${name}.br`, PAGES_FOLDER)).size;

it.each(Object.entries(BUDGETS_KB))('/%s, with its scripts and styles, is at most %d KB', (name, budget) => {
  const html = readFileSync(new URL(`${name}.html`, PAGES_FOLDER));
  const parts = new Set(
    [...html.toString().matchAll(/(?:src|href)="\.\/(pages\/[^"]+)"/g)].map(([, part = '']) => part),
  );
  expect(parts.size).toBeGreaterThan(0);
  const total = brotliCompressSync(html).length + [...parts].reduce((sum, part) => sum + sizeOf(part), 0);
  expect(total).toBeLessThanOrEqual(budget * KB);
});

it('a page of the guide is at most 60 KB, its first page 15 KB, and its search index 290 KB', () => {
  const guide = ['guide.html', ...readdirSync(new URL('guide/', PAGES_FOLDER), { recursive: true })]
    .map(String)
    .filter((name) => name.endsWith('.html'));
  const sizes = guide.map((name) => {
    const html = readFileSync(new URL(name === 'guide.html' ? name : `guide/${name}`, PAGES_FOLDER));
    const parts = [...html.toString().matchAll(/(?:src|href)="(?:\.\.\/)*(pages\/[^"]+\.(?:js|css))"/g)];
    expect(parts.length, name).toBe(2);
    const others = parts.reduce((sum, [, part = '']) => sum + sizeOf(part), 0);
    // A low level compresses faster into more bytes; a page that fits at that level need not be compressed at the level
    // of the API.
    const quickly = brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }).length;
    const budget = (name === 'guide.html' ? 15 : 60) * KB;
    return (quickly + others <= budget ? quickly : brotliCompressSync(html).length) + others;
  });
  expect(sizes[0]).toBeLessThanOrEqual(15 * KB);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(60 * KB);
  const [texts = ''] = readdirSync(new URL('pages/', PAGES_FOLDER)).filter((name) => name.endsWith('.json'));
  expect(sizeOf(`pages/${texts}`)).toBeLessThanOrEqual(290 * KB);
});

it('Redoc is not part of docs.html, and is at most 290 KB', () => {
  const [redoc = ''] = readdirSync(new URL('pages/', PAGES_FOLDER)).filter((name) =>
    name.startsWith('redoc'),
  );
  expect(sizeOf(`pages/${redoc}`)).toBeLessThanOrEqual(290 * KB);
  expect(readFileSync(new URL('docs.html', PAGES_FOLDER)).toString()).not.toContain(redoc);
});

it.each([
  ['what checks signatures for /transparency', 'checks.worker', 20],
  ['the story of an approval on /playground', 'story-view', 4],
  ['what a key opens of /dashboard', 'overview', 29],
  ['its Grants with their budgets', 'grants', 3],
  ['its event subscriptions', 'events', 5],
])('%s is in a separate file, %s, of at most %d KB', (_, start, budget) => {
  const found = readdirSync(new URL('pages/', PAGES_FOLDER)).filter((name) =>
    new RegExp(`^${start}-.*js$`).test(name),
  );
  expect(found).toHaveLength(1);
  expect(sizeOf(`pages/${found[0]}`)).toBeLessThanOrEqual(budget * KB);
});

it('the offline verifier is one file of at most 50 KB', () => {
  expect(sizeOf('verify-receipt-offline.html')).toBeLessThanOrEqual(50 * KB);
});
