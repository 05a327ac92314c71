import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import dockerignore from '@balena/dockerignore';
import { expect, it } from 'vitest';
import { FAILURE_TEXTS } from '../guide/failure-texts.ts';
import { headOf } from '../guide/head.ts';
import { createResolver } from '../guide/markdown.ts';
import { listSources, ROOT } from '../guide/sources.ts';

it('the image build has every file of the guide: its pages, pictures and link targets', () => {
  const sources = listSources();
  const needed = new Set(sources.flatMap(({ file }) => (file === null || file.endsWith('/') ? [] : [file])));
  const resolve = createResolver(sources, (path) => path);
  for (const source of sources)
    for (const link of linksIn(source.markdown)) {
      const target = resolve(source, link);
      if (target.kind === 'picture') needed.add(target.address);
      if (target.kind === 'file') needed.add(target.path.replace(/\/$/, ''));
    }
  expect([...needed].filter((path) => /\.(?:png|jpg)$/.test(path))).not.toEqual([]);

  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const context = readIgnored().filter(tracked);
  const isThere = (path: string): boolean =>
    context.some((file) => file === path || file.startsWith(`${path}/`));
  expect([...needed].filter((path) => !isThere(path))).toEqual([]);
});

it('the image build has no file that git ignores, such as deployment keys, tokens and database addresses', () => {
  const ignored = readIgnored();
  const files = ['api/receipt-keys.json', 'api/admin-token', 'migrate/database-url', '.env'].map(
    (file) => `deploy/compose/state/${file}`,
  );
  for (const line of read('.gitignore').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const name = line.replace(/^\/|\/$/g, '').replaceAll('*', 'any');
    const path = line.endsWith('/') ? `${name}/file` : name;
    files.push(path);
    // A pattern of .gitignore without a slash before its end applies in every folder.
    if (!line.slice(0, -1).includes('/')) files.push(`apps/api/${path}`);
  }
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !ignored.ignores(file))).toEqual([]);
});

it('a link to a heading of the same page stays on the page', () => {
  const page = { address: 'guide/operations', file: 'docs/operations.md' };
  const resolve = createResolver([page], (path) => path);
  expect(resolve(page, '#keys')).toEqual({ kind: 'page', address: 'guide/operations', hash: '#keys' });
});

it('each page has its own description', () => {
  const pages = listSources().map((source) => [source.address, headOf(source).description] as const);
  const isShared = ([page, sentence]: (typeof pages)[number]): boolean =>
    pages.some(([other, said]) => other !== page && said === sentence);
  expect(pages.filter(isShared)).toEqual([]);
});

it('each code by which a library or a kit refuses a Receipt is on the page of failures, and no other code is', () => {
  const sources = [
    'packages/receipts/src',
    'packages/transparency/src',
    'packages/sdk-rp/src',
    'kits/go',
    'kits/python/src',
  ]
    .flatMap(listSourcesOf)
    .map(read);
  const refused = sources.flatMap((text) =>
    [...text.matchAll(/\b(?:failure|fail|report|refuse|Refused)\(\s*['"]([a-z]+(?:-[a-z]+)*)['"]/g)].map(
      ([, code = '']) => code,
    ),
  );
  const told = Object.keys(FAILURE_TEXTS);
  expect(new Set(refused).size).toBeGreaterThan(40);
  expect(refused.filter((code) => !told.includes(code))).toEqual([]);
  expect(
    told.filter((code) => !sources.some((text) => text.includes(`'${code}'`) || text.includes(`"${code}"`))),
  ).toEqual([]);
  const page = listSources().find(({ address }) => address === 'guide/failures');
  for (const code of told) expect(page?.markdown).toContain(`\n## ${code}\n`);
});

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const readIgnored = () =>
  dockerignore({ ignorecase: false }).add(read('deploy/image/Dockerfile.dockerignore'));

/** Links of a page, except those in code. */
function linksIn(markdown: string): readonly string[] {
  const text = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}

const listSourcesOf = (folder: string): readonly string[] =>
  readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|go|py)$/.test(name) && !/test/.test(name))
    .map((name) => `${folder}/${name}`);
