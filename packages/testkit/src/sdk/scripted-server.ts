/** A real HTTP server on loopback that answers as scripted. It can also stay silent or drop the connection. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** `destroy` drops the connection once the request has been read; `silence` never answers. */
export type Reply =
  | {
      status?: number;
      headers?: Record<string, string>;
      json?: unknown;
      text?: string | Uint8Array;
      cut?: boolean;
    }
  | 'destroy'
  | 'silence';

export interface ScriptedServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly received: Received[];
}

/** `script` gives the reply to each request in turn; the last reply of a list is repeated. */
export async function startServer(
  script: readonly Reply[] | ((request: Received) => Reply | Promise<Reply>),
): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body };
    received.push(one);
    const turn = received.length - 1;
    const reply =
      typeof script === 'function'
        ? await script(one)
        : (script[Math.min(turn, script.length - 1)] ?? 'destroy');
    if (reply === 'silence') return;
    if (reply === 'destroy') return void request.socket.destroy();
    const text = reply.text ?? JSON.stringify(reply.json ?? {});
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    if (!reply.cut) return void response.end(text);
    response.write(text);
    setImmediate(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** An error page as gateways write it, not in UTF-8. */
export const LATIN_1 = Buffer.from('<h1>Passerelle fermée</h1>', 'latin1');

export const unavailable = (retryAfter = '0'): Reply => ({
  status: 503,
  headers: { 'retry-after': retryAfter, 'svc-request-id': 'req-503' },
  json: { error: 'SERVICE_UNAVAILABLE', message: 'a backing service is unreachable' },
});
