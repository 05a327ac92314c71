/**
 * The API reference: the OpenAPI document and Redoc, both served from here. The page loads nothing from anywhere
 * else, and its Content-Security-Policy would not let it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { buildOpenApiDocument } from '@svc/contract/openapi';
import type { Answer } from './exchange.ts';
import { JSON_TYPE } from './respond.ts';

/** The build puts it beside the program, so that what it is made of is not installed with the service. */
const REDOC = import.meta.url.endsWith('.ts')
  ? createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
  : new URL('./redoc.js', import.meta.url);
/** The only address the bundle would fetch by itself. Without an image it shows none. */
const VENDOR_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

const THEME = JSON.stringify({
  typography: {
    fontFamily: 'system-ui, sans-serif',
    headings: { fontFamily: 'system-ui, sans-serif' },
    code: { fontFamily: 'ui-monospace, monospace' },
  },
});

// Addresses are relative, so that the page works behind a path prefix too.
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
<style>body { margin: 0 }</style>
</head>
<body>
<redoc spec-url="openapi.json" expand-responses="200,201" hide-hostname theme='${THEME}'></redoc>
<script src="docs/redoc.js"></script>
</body>
</html>
`;

const HOUR = { 'Cache-Control': 'public, max-age=3600' };

export interface DocsPage {
  readonly path: string;
  answer(): Promise<Answer>;
}

/** The pages, each built once, when first asked for. */
export const docsPages = (publicBaseUrl: string): readonly DocsPage[] => [
  {
    path: '/openapi.json',
    answer: once(async () => ({
      status: 200,
      contentType: JSON_TYPE,
      body: JSON.stringify(buildOpenApiDocument(publicBaseUrl)),
      headers: HOUR,
    })),
  },
  {
    path: '/docs',
    answer: once(async () => ({
      status: 200,
      contentType: 'text/html; charset=utf-8',
      body: PAGE,
      headers: HOUR,
    })),
  },
  {
    path: '/docs/redoc.js',
    answer: once(async () => ({
      status: 200,
      contentType: 'text/javascript; charset=utf-8',
      body: await readRedoc(),
      headers: HOUR,
    })),
  },
];

const readRedoc = async (): Promise<Uint8Array> => {
  const bundle = await readFile(REDOC, 'utf8');
  return Buffer.from(bundle.replaceAll(VENDOR_LOGO, 'data:,'));
};

const once = <T>(build: () => Promise<T>): (() => Promise<T>) => {
  let built: Promise<T> | null = null;
  return () => {
    built ??= build();
    return built;
  };
};
