/** `GET /.well-known/did.json` and `GET /org/{slug}/did.json`. */
import type { Routes } from '@svc/contract';
import {
  buildServiceDidDocument,
  DID_DOCUMENT_CONTENT_TYPE,
  getManagedDidDocument,
  type ServiceDeps,
} from '@svc/service';
import type { Handler } from '../../http/index.ts';

/** Short: a compromised key leaves the document at once. */
const headers = { 'Cache-Control': 'public, max-age=60' };

export const getServiceDidDocument = (deps: ServiceDeps): Handler<Routes['getServiceDidDocument']> => {
  const rawBody = buildServiceDidDocument(deps.identity);
  return async () => ({ status: 200, rawBody, contentType: DID_DOCUMENT_CONTENT_TYPE, headers });
};

export const getPrincipalDidDocument =
  (deps: ServiceDeps): Handler<Routes['getPrincipalDidDocument']> =>
  async ({ params }) => ({
    status: 200,
    rawBody: await getManagedDidDocument(deps, params.slug),
    contentType: DID_DOCUMENT_CONTENT_TYPE,
    headers,
  });
