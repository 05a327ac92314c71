/**
 * An object store with the part of S3's protocol that our code uses: get with ranges, head, conditional put, delete,
 * list. Path-style, one bucket, any credential. Tests can make it hang, fail, and give wrong answers.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer as bytesOf } from 'node:stream/consumers';

export const BEHAVIOURS = {
  well: 'as S3 does',
  hang: 'answers nothing',
  fail: 'answers 503',
  drip: 'sends half of a body, and its end never',
  cut: 'sends half of a body and closes the connection',
  shorten: 'sends half of a body as if that were all',
  flip: 'sends a body with one bit flipped',
  whole: 'ignores ranges',
  unconditional: 'ignores conditions',
  unmatched: 'ignores If-Match',
  forbid: 'answers 403 to every put',
  'no-conditions': 'answers that it knows no conditions',
  'lose-answer': 'puts, and closes the connection instead of answering',
  forget: 'answers a put that it does not make',
  halve: 'keeps half of what is put',
  absent: 'says of what is there that it is not',
  stale: 'lists a key that is gone, and not the latest',
  circle: 'begins each listing anew',
  astray: 'lists keys of another prefix',
} as const;
export type Behaviour = keyof typeof BEHAVIOURS;

export interface S3Server {
  readonly endpoint: string;
  readonly objects: Map<string, Uint8Array>;
  /** Behaviour for all requests from now on, or for the next `times`. */
  behave(how: Behaviour, times?: number): void;
  /**
   * `heard` is called for each request from now on, before it is answered, with its number since the start and its
   * headers.
   */
  listen(heard: (asked: number, headers: IncomingHttpHeaders) => void): void;
  /** Requests since the start. */
  readonly asked: number;
  stop(): Promise<void>;
}

/** `pageKeys`: most keys on a page, so that a listing needs several pages. */
export const startS3Server = async (bucket: string, pageKeys = 2): Promise<S3Server> => {
  const objects = new Map<string, Uint8Array>();
  let behaviour: Behaviour = 'well';
  let left = Number.POSITIVE_INFINITY;
  let asked = 0;
  let heard: Parameters<S3Server['listen']>[0] = () => {};
  const server = createServer((request, response) => {
    asked += 1;
    heard(asked, request.headers);
    const how = left > 0 ? behaviour : 'well';
    left -= 1;
    if (how === 'hang') return;
    if (how === 'fail') return void response.writeHead(503).end();
    answer({ bucket, objects, pageKeys, how }, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    get asked() {
      return asked;
    },
    listen: (to) => {
      heard = to;
    },
    behave: (how, times = Number.POSITIVE_INFINITY) => {
      behaviour = how;
      left = times;
    },
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
};

interface Scene {
  readonly bucket: string;
  readonly objects: Map<string, Uint8Array>;
  readonly pageKeys: number;
  readonly how: Behaviour;
}

const etagOf = (bytes: Uint8Array): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

const answer = async (scene: Scene, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '', 'http://s3');
  if (url.searchParams.has('list-type')) return list(scene, url, response);
  const key = decodeURIComponent(url.pathname).slice(scene.bucket.length + 2);
  if (request.method === 'PUT') return put(scene, key, request, response);
  if (request.method === 'DELETE') {
    scene.objects.delete(key);
    return void response.writeHead(204).end();
  }
  const stored = scene.objects.get(key);
  if (stored === undefined || scene.how === 'absent') return fail(response, 404, 'NoSuchKey');
  get(scene.how, stored, request, response);
};

const get = (
  how: Behaviour,
  stored: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  const [, from, to] = /^bytes=([0-9]+)-([0-9]+)$/.exec(request.headers.range ?? '') ?? [];
  const isRange = from !== undefined && how !== 'whole';
  if (isRange && Number(from) >= stored.length) {
    fail(response, 416, 'InvalidRange');
    return;
  }
  const end = isRange ? Math.min(Number(to) + 1, stored.length) : stored.length;
  const body = Buffer.from(stored.subarray(isRange ? Number(from) : 0, end));
  const half = body.subarray(0, body.length >> 1);
  if (how === 'flip' && body.length > 0) body[body.length >> 1] = (body[body.length >> 1] ?? 0) ^ 1;
  const sent = how === 'shorten' ? half : body;
  response.writeHead(isRange ? 206 : 200, {
    etag: etagOf(stored),
    'content-length': sent.length,
    ...(isRange ? { 'content-range': `bytes ${from}-${end - 1}/${stored.length}` } : {}),
  });
  if (request.method === 'HEAD') response.end();
  else if (how === 'cut') response.write(half, () => response.destroy());
  else if (how === 'drip') response.write(half);
  else response.end(sent);
};

const put = async (
  { objects, how }: Scene,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const body = await bytesOf(request);
  const stored = objects.get(key);
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  const isConditional = ifMatch !== undefined || ifNoneMatch !== undefined;
  if (how === 'no-conditions' && isConditional) return fail(response, 501, 'NotImplemented');
  if (how === 'forbid') return fail(response, 403, 'AccessDenied');
  const isRefused =
    (ifNoneMatch === '*' && stored !== undefined) ||
    (ifMatch !== undefined && how !== 'unmatched' && (stored === undefined || etagOf(stored) !== ifMatch));
  if (isRefused && how !== 'unconditional') return fail(response, 412, 'PreconditionFailed');
  if (how !== 'forget') objects.set(key, how === 'halve' ? body.subarray(0, body.length >> 1) : body);
  if (how === 'lose-answer') response.destroy();
  else response.writeHead(200, { etag: etagOf(body) }).end();
};

const fail = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
};

const list = ({ objects, pageKeys, how }: Scene, url: URL, response: ServerResponse): void => {
  const ask = (name: string) => url.searchParams.get(name) ?? '';
  const prefix = how === 'astray' ? '' : ask('prefix');
  const after = how === 'circle' ? '' : ask('continuation-token') || ask('start-after');
  const all = [...objects.keys()].sort();
  if (how === 'stale')
    all.splice(-1, 1, ...all.slice(-1).map((key) => key.replace(/[0-9a-f]{4}\./, 'dead.')));
  const keys = all.filter((key) => key.startsWith(prefix) && key > after);
  const page = keys.slice(0, Math.min(pageKeys, Number(ask('max-keys') || pageKeys)));
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  const isTruncated = keys.length > page.length || how === 'circle';
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents}</ListBucketResult>`,
  );
};
