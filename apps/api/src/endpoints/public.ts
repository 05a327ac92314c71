/** What anybody needs to check a Receipt offline (interface §Endpoints, Public). */
import { parseEvidenceType } from '@svc/contract';
import type { Sha256 } from '@svc/protocol';
import {
  buildServiceDidDocument,
  DID_DOCUMENT_CONTENT_TYPE,
  getManagedDidDocument,
  getRelyingPartyDidDocument,
  internal,
  notFound,
  type ServedLists,
  type ServiceDeps,
  STATUS_LIST_CONTENT_TYPE,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

/** Short: a compromised key leaves the document at once. */
const CACHE_A_MINUTE = { 'Cache-Control': 'public, max-age=60' };
const IMMUTABLE = { 'Cache-Control': 'public, max-age=31536000, immutable' };
/** Protocol §9. */
const CACHE_STATUS_LIST = { 'Cache-Control': 'max-age=30' };

export interface PublicDeps {
  readonly isHealthy: () => Promise<boolean>;
  readonly servedLists: ServedLists;
}

export const publicEndpoints = (
  deps: ServiceDeps,
  { isHealthy, servedLists }: PublicDeps,
): HandlersOf<'public'> => {
  const { identity, store } = deps;
  return {
    /** 200 when every backing service is reachable and nothing holds decisions. */
    getHealth: async () => {
      const { env, did } = identity;
      return (await isHealthy())
        ? { status: 200, body: { ok: true, env, did } }
        : { status: 503, body: { ok: false, env, did } };
    },

    getServiceDidDocument: async () => ({
      status: 200,
      rawBody: buildServiceDidDocument(identity),
      contentType: DID_DOCUMENT_CONTENT_TYPE,
      headers: CACHE_A_MINUTE,
    }),

    getPrincipalDidDocument: async ({ params }) => ({
      status: 200,
      rawBody: await getManagedDidDocument(deps, params.slug),
      contentType: DID_DOCUMENT_CONTENT_TYPE,
      headers: CACHE_A_MINUTE,
    }),

    getRelyingPartyDidDocument: async ({ params }) => ({
      status: 200,
      rawBody: await getRelyingPartyDidDocument(deps, params.slug),
      contentType: DID_DOCUMENT_CONTENT_TYPE,
      headers: CACHE_A_MINUTE,
    }),

    /** The exact bytes, with their own content type, for ever. */
    getEvidence: async ({ params }) => {
      const hash = (params.hash.startsWith('sha256:') ? params.hash : `sha256:${params.hash}`) as Sha256;
      const evidence = await store.evidence.find(hash);
      if (evidence === null) throw notFound(`No evidence with hash ${hash}.`);
      const contentType = parseEvidenceType(evidence.contentType);
      if (contentType === null) throw internal(`evidence ${hash} of type ${evidence.contentType}`);
      return { status: 200, rawBody: evidence.body, contentType, headers: IMMUTABLE };
    },

    /** The credential exactly as it was signed. */
    getStatusList: async ({ params }) => {
      return {
        status: 200,
        rawBody: await servedLists.get(deps, params.domain, params.number),
        contentType: STATUS_LIST_CONTENT_TYPE,
        headers: CACHE_STATUS_LIST,
      };
    },
  };
};
