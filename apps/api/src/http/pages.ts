/**
 * The pages for people (apps/pages), read once at start: HTML by name, what it loads under names that hold their
 * hash. They are not routes of the contract. Each page is plain text until its policy lets it load its own files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Answer } from './exchange.ts';
import { encodeSmall, type Representations, represent, type Wishes } from './representations.ts';

export interface StaticPage {
  readonly path: string;
  /** Redoc writes its styles into the page, and searches in a worker. */
  readonly policy: 'pages' | 'reference';
  /** 200, or 304 where the client holds this very content. */
  answer(wishes: Wishes): Answer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const START = 'index.html';
const REFERENCE = 'docs.html';
const PLAYGROUND = 'playground.html';
/** A file to keep, not a page to visit: its own policy is inside it. */
const OFFLINE_VERIFIER = 'verify-receipt-offline.html';
const ASSETS = 'pages/';
/** What is not changed here has been compressed by the build. */
const ENCODED = 'encoded/';

/** Reads the built pages in `folder`. Throws where they are not there. */
export const loadPages = (
  folder: URL,
  { hasSandbox }: { readonly hasSandbox: boolean },
): readonly StaticPage[] =>
  listFiles(folder)
    .filter((name) => hasSandbox || name !== PLAYGROUND)
    .map((name) => {
      const bytes = readFileSync(new URL(name, folder));
      return name.endsWith('.html') && name !== OFFLINE_VERIFIER
        ? buildPage(pathOf(name), name, encodeSmall(withSandbox(bytes, hasSandbox)))
        : buildPage(`/${name}`, name, { identity: bytes, ...encodedByBuild(folder, name) });
    });

const listFiles = (folder: URL): string[] => {
  try {
    const own = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const assets = readdirSync(new URL(ASSETS, folder)).map((name) => `${ASSETS}${name}`);
    return [...own.map(({ name }) => name), ...assets].sort();
  } catch (cause) {
    throw new Error('the pages are not built: run `npm run build`', { cause });
  }
};

const pathOf = (name: string): string => (name === START ? '/' : `/${name.slice(0, -'.html'.length)}`);

/** Tells the page whether this deployment has a sandbox, so that it can link to the playground. */
const withSandbox = (page: Buffer, hasSandbox: boolean): Buffer =>
  hasSandbox ? Buffer.from(page.toString().replace('data-sandbox="off"', 'data-sandbox="on"')) : page;

const encodedByBuild = (folder: URL, name: string): Partial<Representations> => ({
  br: readFileSync(new URL(`${ENCODED}${name}.br`, folder)),
  gzip: readFileSync(new URL(`${ENCODED}${name}.gz`, folder)),
});

const buildPage = (path: string, name: string, representations: Representations): StaticPage => {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`no content type is known for the page file ${name}`);
  const headers = {
    'Cache-Control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(name === OFFLINE_VERIFIER && { 'Content-Disposition': 'attachment; filename="verify-receipt.html"' }),
  };
  return {
    path,
    policy: name === REFERENCE ? 'reference' : 'pages',
    answer: represent(representations, { contentType, headers }),
  };
};
