/** A hosted Principal's own web server on loopback, reached through `SVC_OUTBOUND_MAP`. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

export interface PrincipalHost {
  readonly url: string;
  /** The pages of the host, by path; any other path answers 404. A string is sent as it is, any other value as JSON. */
  readonly pages: Map<string, unknown>;
  /** Requested paths, in order. */
  readonly asked: readonly string[];
  /** The headers of each request. */
  readonly heard: readonly IncomingHttpHeaders[];
  /** Content type of every page. */
  contentType: string;
  /** While true, the host closes every connection without an answer. */
  isDown: boolean;
  /** Requests wait for this promise before they are answered. */
  gate: Promise<void>;
  close(): Promise<void>;
}

export const DID_DOCUMENT = '/.well-known/did.json';
export const PROOF = '/.well-known/svc-verification.json';

export const startPrincipalHost = async (): Promise<PrincipalHost> => {
  const asked: string[] = [];
  const heard: IncomingHttpHeaders[] = [];
  const pages = new Map<string, unknown>();
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push(request.url ?? '');
    heard.push(request.headers);
    await host.gate;
    if (host.isDown) return request.socket.destroy();
    const page = pages.get(request.url ?? '');
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': host.contentType });
    response.end(typeof page === 'string' ? page : JSON.stringify(page ?? {}));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const host: PrincipalHost = {
    url: `http://127.0.0.1:${port}`,
    pages,
    asked,
    heard,
    contentType: 'application/json',
    isDown: false,
    gate: Promise.resolve(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return host;
};

interface HostedKey {
  /** Fragment; default `key-<n>`. */
  readonly id?: string;
  readonly publicKeyMultibase: string;
}

export const didDocument = (did: string, keys: readonly HostedKey[]) => {
  const kids = keys.map(({ id }, i) => `${did}#${id ?? `key-${i + 1}`}`);
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: keys.map(({ publicKeyMultibase }, i) => ({
      id: kids[i],
      type: 'Multikey',
      controller: did,
      publicKeyMultibase,
    })),
    assertionMethod: kids,
  };
};
