/**
 * The pages for people (apps/pages), read once at start: HTML files by name, their assets under names that contain
 * their hash, and the guide, whose pages also exist as Markdown. They are not routes of the contract. The content
 * security policy of a page allows only its own files.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer } from './exchange.ts';
import {
  encodeSmall,
  preferredType,
  type Representations,
  represent,
  type Wishes,
} from './representations.ts';

export interface StaticPage {
  readonly path: string;
  /** Redoc writes its styles into the page, and searches in a worker. */
  readonly policy: 'pages' | 'reference';
  /** 200, or 304 if the client has exactly this content. */
  answer(wishes: Wishes): Answer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
};

const START = 'index.html';
const REFERENCE = 'docs.html';
const PLAYGROUND = 'playground.html';
/** A file to download and keep; its content contains its own policy. */
const OFFLINE_VERIFIER = 'verify-receipt-offline.html';
/** The page that shows errors; it has no address of its own. */
const ERROR = 'error.html';
const ASSETS = 'pages/';
const GUIDE = 'guide/';
/** The build has compressed the files that are not changed here. */
const ENCODED = 'encoded/';

/** Reads the built pages in `folder`. Throws if there are none. */
export const loadPages = (
  folder: URL,
  { hasSandbox }: { readonly hasSandbox: boolean },
): readonly StaticPage[] =>
  listFiles(folder)
    .filter((name) => name !== ERROR && (hasSandbox || name !== PLAYGROUND))
    .map((name) => {
      const read = () => readFileSync(new URL(name, folder));
      if (name.startsWith(ASSETS) || name === OFFLINE_VERIFIER)
        return buildPage(name, { identity: read(), ...encodedByBuild(folder, name) });
      const page = buildPage(name, withSandbox(read(), hasSandbox));
      const markdown = name.replace(/html$/, 'md');
      if (markdown === name || !existsSync(new URL(markdown, folder))) return page;
      return inEither(page, buildPage(markdown, readFileSync(new URL(markdown, folder))));
    });

/** The page that shows an error to a browser; the caller fills in `{root}`, `{code}` and `{message}`. */
export const loadErrorPage = (folder: URL, { hasSandbox }: { readonly hasSandbox: boolean }): string =>
  withSandbox(readFileSync(new URL(ERROR, folder)), hasSandbox).toString();

const listFiles = (folder: URL): string[] => {
  try {
    const own = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const inFolder = (name: string) =>
      readdirSync(new URL(name, folder), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(fileURLToPath(folder), join(entry.parentPath, entry.name)))
        .map((path) => path.replaceAll('\\', '/'));
    return [...own.map(({ name }) => name), ...inFolder(ASSETS), ...inFolder(GUIDE)].sort();
  } catch (cause) {
    throw new Error('the pages are not built: run `npm run build`', { cause });
  }
};

const pathOf = (name: string): string => {
  if (name === START) return '/';
  return `/${name === OFFLINE_VERIFIER ? name : name.replace(/\.html$/, '')}`;
};

/** Marks in the page whether this deployment has a sandbox, so that the page can link to the playground. */
const withSandbox = (page: Buffer, hasSandbox: boolean): Buffer =>
  hasSandbox ? Buffer.from(page.toString().replace('data-sandbox="off"', 'data-sandbox="on"')) : page;

const encodedByBuild = (folder: URL, name: string): Partial<Representations> =>
  name.endsWith('.png')
    ? {}
    : {
        br: readFileSync(new URL(`${ENCODED}${name}.br`, folder)),
        gzip: readFileSync(new URL(`${ENCODED}${name}.gz`, folder)),
      };

/** Text that the build has not compressed is compressed at its first request and kept. */
const buildPage = (name: string, content: Buffer | Representations): StaticPage => {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`no content type is known for the page file ${name}`);
  const headers = {
    'Cache-Control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(name === OFFLINE_VERIFIER && { 'Content-Disposition': 'attachment; filename="verify-receipt.html"' }),
  };
  let answer: StaticPage['answer'] | undefined;
  return {
    path: pathOf(name),
    policy: name === REFERENCE ? 'reference' : 'pages',
    answer: (wishes) => {
      answer ??= represent(Buffer.isBuffer(content) ? encodeSmall(content) : content, {
        contentType,
        headers,
      });
      return answer(wishes);
    },
  };
};

/** Both forms at one address: HTML, unless the client asks for Markdown. */
const inEither = (page: StaticPage, markdown: StaticPage): StaticPage => ({
  ...page,
  answer: (wishes) => {
    const wanted = preferredType(wishes.accept, ['text/html', 'text/markdown']);
    const answer = (wanted === 'text/markdown' ? markdown : page).answer(wishes);
    return { ...answer, headers: { ...answer.headers, Vary: 'Accept, Accept-Encoding' } };
  },
});
