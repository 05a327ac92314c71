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

describe('GET', () => {
  it('a page is HTML that is asked about every time and may load only what is its own', async () => {
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
  ])('%s is %s and kept for ever', async (path, contentType) => {
    const { status, headers } = await (await start(false)).call('GET', path);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      contentType,
      'public, max-age=31536000, immutable',
    ]);
  });

  it('the offline verifier is a file to keep', async () => {
    const { headers } = await (await start(false)).call('GET', '/verify-receipt-offline.html');
    expect(headers.get('content-disposition')).toBe('attachment; filename="verify-receipt.html"');
  });

  it('what the client holds is not sent again, and what it does not is', async () => {
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

describe('the guide', () => {
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

describe('in the coding that the client takes', () => {
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
  ] as const)('%s for "%s" is %s, and the same text', async (path, accepted, coding, expected) => {
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
  });

  it('each coding has a tag of its own, so that no cache takes one for the other', async () => {
    const { base } = await start(true);
    const tags = ['br', 'gzip', 'identity'].map(
      async (accepted) =>
        (await rawGet(`${base}/transparency`, { 'accept-encoding': accepted })).headers.etag,
    );
    expect(new Set(await Promise.all(tags)).size).toBe(3);
  });
});

describe('the bare address', () => {
  it('is the start page to whoever takes HTML, as a browser or curl, and otherwise no path', async () => {
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

it('the reference alone may have styles in it and a worker, and nothing of elsewhere', async () => {
  const { call } = await start(false);
  const policy = (await call('GET', '/docs')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline'");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
});

it('the playground is there, and linked, only where the sandbox is', async () => {
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
  '%s is told to a browser as a page with links and styles, to a program as any error',
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

it('a route of the API answers a browser as it answers a program', async () => {
  const { call } = await start(true);
  const { status, json } = await call('GET', '/me', { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect([status, json.error]).toEqual([401, 'UNAUTHORIZED']);
});

it.each([
  ['/guide/', '../guide', '/guide'],
  ['/guide/start/agent/', '../agent', '/guide/start/agent'],
  ['/dashboard/', '../dashboard', '/dashboard'],
])('%s leads to the page without the slash, also behind a prefix', async (path, location, page) => {
  const { base, call } = await start(true);
  const { status, headers } = await fetch(base + path, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([308, location]);
  expect(new URL(location, `https://svc.example/prefix${path}`).pathname).toBe(`/prefix${page}`);
  expect((await call('POST', path)).status).toBe(405);
});

it('POST is 405 with Allow, HEAD has no body', async () => {
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

it('where the pages are not built, the start says so', () => {
  expect(() => loadPages(pathToFileURL(`${folder}/nowhere/`), { hasSandbox: false })).toThrow(
    'the pages are not built: run `npm run build`',
  );
});

it('whoever has read all the pages they may can still get the documents of keys, and the other way round', async () => {
  const { base } = await startService({
    deps: pagesOf(false),
    limits: { pagesPerMinute: 2, publicPerMinute: 1 },
  });
  const statuses: number[] = [];
  for (const path of ['/guide', '/guide/start/agent', '/llms.txt', '/', '/healthz', '/healthz'])
    statuses.push((await fetch(base + path, { headers: { accept: 'application/json' } })).status);
  expect(statuses).toEqual([200, 200, 429, 429, 200, 429]);
});
