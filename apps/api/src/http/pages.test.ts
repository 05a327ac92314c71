/** The pages as served: their own policy, their caching, and hosts and paths that must not serve them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../../test/world/http-fixture.ts';
import { rawGet } from '../../test/world/raw-get.ts';
import { loadErrorPage, loadPages } from './pages.ts';

const LONG = 'a line of the page. '.repeat(500);
/** Longer than the part of such a header that is read. */
const LONG_ACCEPT = `text/html,${'x/y,'.repeat(256)}`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pages-'));
  for (const name of ['pages', 'encoded', 'encoded/pages', 'guide', 'guide/start'])
    mkdirSync(join(folder, name));
  for (const name of ['index', 'docs', 'dashboard', 'playground'])
    writeFileSync(join(folder, `${name}.html`), `<html data-sandbox="off">${name}</html>`);
  writeFileSync(join(folder, 'transparency.html'), `<html data-sandbox="off">${LONG}</html>`);
  for (const name of ['guide', 'guide/start/agent']) {
    writeFileSync(join(folder, `${name}.html`), `<html data-sandbox="off">${name}</html>`);
    writeFileSync(join(folder, `${name}.md`), `# ${name}\n`);
  }
  writeFileSync(join(folder, 'llms.txt'), '# svc\n');
  writeFileSync(
    join(folder, 'error.html'),
    '<html data-sandbox="off"><a href="{root}guide"><h1>{code}</h1><p>{message}</p>',
  );
  const kept = [
    ['verify-receipt-offline.html', 'offline'],
    ['pages/dashboard-Ab1.js', `export {};//${LONG}`],
    ['pages/dashboard-Cd2.css', 'body {}'],
  ] as const;
  for (const [name, text] of kept) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'encoded', `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, 'encoded', `${name}.gz`), gzipSync(text));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (hasSandbox: boolean) => startService({ deps: pagesOf(hasSandbox) });
const pagesOf = (hasSandbox: boolean) => ({
  pages: loadPages(pathToFileURL(`${folder}/`), { hasSandbox }),
  errorPage: loadErrorPage(pathToFileURL(`${folder}/`), { hasSandbox }),
});

const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';connect-src 'self';img-src 'self' data:;" +
  "base-uri 'none';form-action 'none';frame-ancestors 'none'";

describe('GET of a page', () => {
  it('is HTML that is revalidated on each use and may load only its own files', async () => {
    const { status, headers, text } = await (await start(false)).call('GET', '/dashboard');
    expect([status, text]).toEqual([200, '<html data-sandbox="off">dashboard</html>']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'ratelimit-limit': '300',
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['/pages/dashboard-Ab1.js', 'text/javascript; charset=utf-8'],
    ['/pages/dashboard-Cd2.css', 'text/css; charset=utf-8'],
  ])('%s is %s and cached as immutable', async (path, contentType) => {
    const { status, headers } = await (await start(false)).call('GET', path);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      contentType,
      'public, max-age=31536000, immutable',
    ]);
  });

  it('of the offline verifier is a download', async () => {
    const { headers } = await (await start(false)).call('GET', '/verify-receipt-offline.html');
    expect(headers.get('content-disposition')).toBe('attachment; filename="verify-receipt.html"');
  });

  it('answers 304 if the client holds the current ETag, otherwise 200', async () => {
    const { call } = await start(false);
    const etag = (await call('GET', '/dashboard')).headers.get('etag') ?? '';
    for (const held of [etag, `"x", W/${etag}`, '*']) {
      const { status, text, headers } = await call('GET', '/dashboard', {
        headers: { 'if-none-match': held },
      });
      expect([status, text, headers.get('etag'), headers.get('content-length')]).toEqual([
        304,
        '',
        etag,
        null,
      ]);
    }
    expect((await call('GET', '/dashboard', { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });
});

describe('The guide', () => {
  it.each([
    [
      '/guide/start/agent',
      'text/html,*/*;q=0.8',
      'text/html',
      '<html data-sandbox="on">guide/start/agent</html>',
    ],
    ['/guide/start/agent', undefined, 'text/html', '<html data-sandbox="on">guide/start/agent</html>'],
    ['/guide/start/agent', 'text/markdown, text/html;q=0.5', 'text/markdown', '# guide/start/agent\n'],
    ['/guide', 'text/markdown', 'text/markdown', '# guide\n'],
    ['/guide/start/agent.md', 'text/html', 'text/markdown', '# guide/start/agent\n'],
    ['/llms.txt', undefined, 'text/plain', '# svc\n'],
  ])('%s for "%s" is %s', async (path, accept, type, expected) => {
    const { base } = await start(true);
    const { headers, body } = await rawGet(`${base}${path}`, accept === undefined ? {} : { accept });
    expect([headers['content-type'], body.toString()]).toEqual([`${type}; charset=utf-8`, expected]);
    expect(headers.vary).toBe(/guide[^.]*$/.test(path) ? 'Accept, Accept-Encoding' : 'Accept-Encoding');
    expect(headers['content-security-policy']).toBe(POLICY);
  });
});

describe('The content coding of pages', () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
  const text = { js: `export {};//${LONG}`, html: `<html data-sandbox="on">${LONG}</html>` };

  it.each([
    ['/pages/dashboard-Ab1.js', 'gzip, deflate, br, zstd', 'br', text.js],
    ['/pages/dashboard-Ab1.js', 'gzip;q=1, br;q=0', 'gzip', text.js],
    ['/pages/dashboard-Ab1.js', '*;q=0.5', 'br', text.js],
    ['/pages/dashboard-Ab1.js', 'identity', 'identity', text.js],
    ['/pages/dashboard-Ab1.js', undefined, 'identity', text.js],
    ['/pages/dashboard-Ab1.js', 'zstd, nonsense;;q=', 'identity', text.js],
    ['/transparency', 'br', 'br', text.html],
    ['/transparency', 'gzip', 'gzip', text.html],
    ['/transparency', `br,${'x,'.repeat(512)}`, 'identity', text.html],
    ['/dashboard', 'br', 'identity', '<html data-sandbox="on">dashboard</html>'],
  ] as const)(
    'of %s for "%s" is %s, and decodes to the same text',
    async (path, accepted, coding, expected) => {
      const { base } = await start(true);
      const { headers, body } = await rawGet(
        `${base}${path}`,
        accepted === undefined ? {} : { 'accept-encoding': accepted },
      );
      expect(headers['content-encoding'] ?? 'identity').toBe(coding);
      expect(headers.vary).toBe('Accept-Encoding');
      expect(headers['content-length']).toBe(String(body.length));
      expect(decoders[coding](body).toString()).toBe(expected);
      if (coding !== 'identity') expect(body.length).toBeLessThan(expected.length / 4);
    },
  );

  it('has a separate ETag per coding, so that caches do not mix them', async () => {
    const { base } = await start(true);
    const tags = ['br', 'gzip', 'identity'].map(
      async (accepted) =>
        (await rawGet(`${base}/transparency`, { 'accept-encoding': accepted })).headers.etag,
    );
    expect(new Set(await Promise.all(tags)).size).toBe(3);
  });
});

describe('The path /', () => {
  it('serves the start page to clients that accept HTML, and is 404 otherwise and for POST', async () => {
    const { call } = await start(false);
    const page = await call('GET', '/', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.text]).toEqual([200, '<html data-sandbox="off">index</html>']);
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect((await call('GET', '/', { headers: { accept: '*/*' } })).text).toBe(page.text);
    const json = await call('GET', '/', { headers: { accept: 'application/json' } });
    expect(json.json.error).toBe('NOT_FOUND');
    expect((await call('GET', '/', { headers: { accept: LONG_ACCEPT } })).json.error).toBe('NOT_FOUND');
    expect((await call('POST', '/')).json.error).toBe('NOT_FOUND');
    expect((await call('GET', '/index')).json.error).toBe('NOT_FOUND');
  });
});

it('The policy of /docs allows inline styles, and nothing from other origins', async () => {
  const { call } = await start(false);
  const policy = (await call('GET', '/docs')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline'");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
});

it('The playground is served and linked only where the sandbox is on', async () => {
  const [without, withIt] = [await start(false), await start(true)];
  expect((await without.call('GET', '/playground')).status).toBe(404);
  expect((await withIt.call('GET', '/playground')).status).toBe(200);
  expect((await withIt.call('GET', '/dashboard')).text).toContain('data-sandbox="on"');
});

it.each([
  '/Dashboard',
  '/error',
  '/dashboard.html',
  '/pages',
  '/pages/',
  '/pages/..%2fdashboard',
  '/pages/x.js',
  '/guide//',
  '/guide/start',
  '/guide/start/',
  '/guide.md/',
  '/llms.txt/',
  '/guide/start/agent.html',
])('%s is 404', async (path) => {
  const { status, json } = await (await start(true)).call('GET', path);
  expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
});

it.each([
  ['/nobody', './'],
  ['/nobody?x=/<b>', './'],
  ['/guide/start/nobody', '../../'],
  ['/a'.repeat(2_000), 'https://svc.example/'],
])(
  '%s is a 404 page with links and styles for a browser, and a JSON error for a program',
  async (path, root) => {
    const { call } = await start(true);
    const page = await call('GET', path, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toBe(
      `<html data-sandbox="on"><a href="${root}guide"><h1>NOT_FOUND</h1><p>There is no such path; ` +
        `<a href="${root}openapi.json">/openapi.json</a> and <a href="${root}docs">/docs</a> list what there is, ` +
        `<a href="${root}guide">/guide</a> and <a href="${root}llms.txt">/llms.txt</a> explain it.</p>`,
    );
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect(page.headers.get('vary')).toContain('Accept');
    for (const accept of ['*/*', 'application/json', 'application/json, text/html', LONG_ACCEPT])
      expect((await call('GET', path, { headers: { accept } })).json.error).toBe('NOT_FOUND');
  },
);

it('A route of the API answers a browser with JSON as well', async () => {
  const { call } = await start(true);
  const { status, json } = await call('GET', '/me', { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect([status, json.error]).toEqual([401, 'UNAUTHORIZED']);
});

it.each([
  ['/guide/', '../guide', '/guide'],
  ['/guide/start/agent/', '../agent', '/guide/start/agent'],
  ['/dashboard/', '../dashboard', '/dashboard'],
])(
  '%s redirects to the page without the slash, also behind a prefix; POST to it is 405',
  async (path, location, page) => {
    const { base, call } = await start(true);
    const { status, headers } = await fetch(base + path, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([308, location]);
    expect(new URL(location, `https://svc.example/prefix${path}`).pathname).toBe(`/prefix${page}`);
    expect((await call('POST', path)).status).toBe(405);
  },
);

it('A page answers POST with 405 and Allow, and HEAD without a body', async () => {
  const { call } = await start(true);
  const { status, headers } = await call('POST', '/dashboard');
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  const head = await call('HEAD', '/dashboard');
  expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
    200,
    '',
    'text/html; charset=utf-8',
  ]);
});

it('The start fails with a message if the pages are not built', () => {
  expect(() => loadPages(pathToFileURL(`${folder}/nowhere/`), { hasSandbox: false })).toThrow(
    'the pages are not built: run `npm run build`',
  );
});

it('The limits of pages and of public routes are counted separately for an address', async () => {
  const { base } = await startService({
    deps: pagesOf(false),
    limits: { pagesPerMinute: 2, publicPerMinute: 1 },
  });
  const statuses: number[] = [];
  for (const path of ['/guide', '/guide/start/agent', '/llms.txt', '/', '/healthz', '/healthz'])
    statuses.push((await fetch(base + path, { headers: { accept: 'application/json' } })).status);
  expect(statuses).toEqual([200, 200, 429, 429, 200, 429]);
});
