/**
 * The admin port: liveness, readiness and Prometheus metrics (protocol §13). It does not authenticate, so it must not
 * be reachable from the public network.
 *
 * - Live: the process answers.
 * - Ready: it can do all of its work.
 * - Serving: it answers at least requests that need no decision (revocations, reads). A proxy without another node to
 *   choose uses this one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

const JSON_TYPE = 'application/json; charset=utf-8';

const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]']);

/** Milliseconds within which a request about health is answered, whatever storage does. */
export const HEALTH_ANSWER_MS = 800;

export interface Readiness {
  readonly ok: boolean;
  /** True: requests are answered, even if none is decided. */
  readonly serves: boolean;
  /** Each check by name: `ok`, or a short description of the fault. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface AdminDeps<R = Pick<Registry, 'contentType' | 'metrics'>> {
  readonly registry: R;
  readonly readiness: () => Promise<Readiness>;
  readonly logger: Logger;
}

export interface AdminService {
  listen(port: number, host: string): Promise<AddressInfo>;
  close(): Promise<void>;
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const page = (status: number, value: unknown): Page => ({
  status,
  contentType: JSON_TYPE,
  body: JSON.stringify(value),
});

export const createAdminService = ({ registry, readiness, logger }: AdminDeps): AdminService => {
  const answer = async (path: string): Promise<Page> => {
    if (path === '/livez') return page(200, { ok: true });
    if (path === '/readyz' || path === '/servez') {
      const { ok: isReady, serves, checks } = await readiness();
      const ok = path === '/readyz' ? isReady : serves;
      return page(ok ? 200 : 503, { ok, checks });
    }
    if (path === '/metrics')
      return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
    return page(404, { error: 'NOT_FOUND', message: 'There are /livez, /readyz, /servez and /metrics' });
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const result = isRead
      ? await answer(path)
      : page(405, { error: 'METHOD_NOT_ALLOWED', message: 'GET or HEAD' });
    response.writeHead(result.status, {
      'Content-Type': result.contentType,
      'Cache-Control': 'no-store',
      ...(isRead ? {} : { Allow: 'GET, HEAD' }),
    });
    response.end(result.body);
  };

  const server = createServer({ headersTimeout: 10_000, requestTimeout: 15_000 }, (request, response) => {
    respond(request, response).catch((error: unknown) => {
      logger.error({ err: error }, 'admin request failed');
      response.destroy();
    });
  });

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          if (EVERYWHERE.has(host))
            logger.warn(
              { adminHost: host },
              'the admin port takes no credential and listens on every address: set SVC_ADMIN_HOST to one of a private network',
            );
          resolve(server.address() as AddressInfo);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
