/** One HTTPS host for any name in the tests, whose answer to each path a test sets. */
import { createAuthority, type TestAuthority } from './certificates.ts';
import { startHttpsHost, type TestHost } from './hosts.ts';

export interface Page {
  readonly status?: number;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServedHost {
  readonly authority: TestAuthority;
  readonly host: TestHost;
  /** By `host/path`; other paths answer 404. */
  readonly pages: Map<string, Page>;
}

export const startServedHost = async (names: readonly string[]): Promise<ServedHost> => {
  const authority = await createAuthority();
  const pages = new Map<string, Page>();
  const host = await startHttpsHost(await authority.issue(names), (request, response) => {
    const {
      status = 200,
      body = '',
      headers = {},
    } = pages.get(`${request.headers.host}${request.url}`) ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
  return { authority, host, pages };
};
