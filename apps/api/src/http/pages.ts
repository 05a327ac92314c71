/**
 * The pages for people (apps/pages), read once at start: HTML by name, what it loads under names that hold their own
 * hash. They are not routes of the contract. Each page is plain text until its policy lets it load its own files.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Answer } from './exchange.ts';

export interface StaticPage {
  readonly path: string;
  /** 200, or 304 where the client holds this very content. */
  answer(ifNoneMatch: string | undefined): Answer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const PLAYGROUND = 'playground.html';
/** A file to keep, not a page to visit: its own policy is inside it. */
const OFFLINE_VERIFIER = 'verify-receipt-offline.html';
const ASSETS = 'pages/';

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
        ? buildPage(`/${name.slice(0, -'.html'.length)}`, name, withSandbox(bytes, hasSandbox))
        : buildPage(`/${name}`, name, bytes);
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

/** Tells the page whether this deployment has a sandbox, so that it can link to the playground. */
const withSandbox = (page: Buffer, hasSandbox: boolean): Buffer =>
  hasSandbox ? Buffer.from(page.toString().replace('data-sandbox="off"', 'data-sandbox="on"')) : page;

const buildPage = (path: string, name: string, body: Buffer): StaticPage => {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`no content type is known for the page file ${name}`);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = {
    ETag: etag,
    'Cache-Control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(name === OFFLINE_VERIFIER && { 'Content-Disposition': 'attachment; filename="verify-receipt.html"' }),
  };
  const found: Answer = { status: 200, contentType, body, headers };
  const unchanged: Answer = { status: 304, body: '', headers };
  return {
    path,
    answer: (ifNoneMatch) => (ifNoneMatch !== undefined && names(ifNoneMatch, etag) ? unchanged : found),
  };
};

/** RFC 9110 §13.1.2: any of a list, compared weakly. */
const names = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
