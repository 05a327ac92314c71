/**
 * Storage that speaks as much of S3's protocol as the fence asks of it: get, conditional put, list. Path-style, one bucket,
 * any credential. It can be made to hang or to fail.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

export interface S3Server {
  readonly endpoint: string;
  readonly objects: Map<string, string>;
  /** What every request meets from now on. */
  behave(how: 'well' | 'hang' | 'fail'): void;
  stop(): Promise<void>;
}

export const startS3Server = async (bucket: string): Promise<S3Server> => {
  const objects = new Map<string, string>();
  let behaviour: 'well' | 'hang' | 'fail' = 'well';
  const server = createServer((request, response) => {
    if (behaviour === 'hang') return;
    if (behaviour === 'fail') return void response.writeHead(503).end();
    answer(bucket, objects, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    behave: (how) => {
      behaviour = how;
    },
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
};

const etagOf = (text: string): string => `"${createHash('md5').update(text).digest('hex')}"`;

const answer = async (
  bucket: string,
  objects: Map<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const url = new URL(request.url ?? '', 'http://s3');
  const path = decodeURIComponent(url.pathname);
  if (url.searchParams.has('list-type')) return list(objects, url, response);
  const key = path.slice(bucket.length + 2);
  const body = await textOf(request);
  const stored = objects.get(key);
  if (request.method === 'GET') {
    if (stored === undefined) return fail(response, 404, 'NoSuchKey');
    response.writeHead(200, { etag: etagOf(stored), 'content-type': 'application/json' }).end(stored);
    return;
  }
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  const isRefused =
    (ifNoneMatch === '*' && stored !== undefined) ||
    (ifMatch !== undefined && (stored === undefined || etagOf(stored) !== ifMatch));
  if (isRefused) return fail(response, 412, 'PreconditionFailed');
  objects.set(key, body);
  response.writeHead(200, { etag: etagOf(body) }).end();
};

const fail = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
};

/** Two keys a page, so that whoever lists has to go on. */
const list = (objects: Map<string, string>, url: URL, response: ServerResponse): void => {
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = url.searchParams.get('continuation-token') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, 2);
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents}</ListBucketResult>`,
  );
};
