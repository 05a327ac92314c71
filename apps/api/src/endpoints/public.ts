/** Public documents that are needed to check a Receipt offline (interface §Endpoints, Public). */
import { parseEvidenceType } from '@svc/contract';
import type { Sha256 } from '@svc/protocol';
import {
  buildServiceDidDocument,
  buildServiceJwks,
  DID_DOCUMENT_CONTENT_TYPE,
  getManagedDidDocument,
  getRelyingPartyDidDocument,
  internal,
  type KnownText,
  LastKnown,
  notFound,
  type ServedLists,
  type ServiceDeps,
  STATUS_LIST_CONTENT_TYPE,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

/** Short, so that a compromised key leaves the document soon. */
const DOCUMENT_SECONDS = 60;
const CACHE_A_MINUTE = { 'Cache-Control': `public, max-age=${DOCUMENT_SECONDS}` };
const IMMUTABLE = { 'Cache-Control': 'public, max-age=31536000, immutable' };
/** Protocol §9. */
const STATUS_LIST_SECONDS = 30;
const CACHE_STATUS_LIST = { 'Cache-Control': `max-age=${STATUS_LIST_SECONDS}` };

export interface PublicDeps {
  readonly isHealthy: () => Promise<boolean>;
  readonly servedLists: ServedLists;
  readonly known: KnownPublic;
}

/** Answers that this node continues to serve for a while when storage does not answer. */
export interface KnownPublic {
  readonly documents: LastKnown;
  readonly statusLists: LastKnown;
}

export const createKnownPublic = (): KnownPublic => ({
  documents: new LastKnown(DOCUMENT_SECONDS),
  statusLists: new LastKnown(STATUS_LIST_SECONDS),
});

export const publicEndpoints = (
  deps: ServiceDeps,
  { isHealthy, servedLists, known: { documents, statusLists } }: PublicDeps,
): HandlersOf<'public'> => {
  const { identity, store } = deps;
  const asKnown = ({ text, ageSeconds }: KnownText, headers: Readonly<Record<string, string>>) => ({
    status: 200 as const,
    rawBody: text,
    headers: ageSeconds === 0 ? headers : { ...headers, Age: String(ageSeconds) },
  });
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

    getServiceJwks: async () => ({
      status: 200,
      rawBody: buildServiceJwks(identity),
      contentType: 'application/jwk-set+json',
      headers: CACHE_A_MINUTE,
    }),

    getPrincipalDidDocument: async ({ params: { slug } }) => ({
      ...asKnown(await documents.get(`org ${slug}`, () => getManagedDidDocument(deps, slug)), CACHE_A_MINUTE),
      contentType: DID_DOCUMENT_CONTENT_TYPE,
    }),

    getRelyingPartyDidDocument: async ({ params: { slug } }) => ({
      ...asKnown(
        await documents.get(`rp ${slug}`, () => getRelyingPartyDidDocument(deps, slug)),
        CACHE_A_MINUTE,
      ),
      contentType: DID_DOCUMENT_CONTENT_TYPE,
    }),

    /** The exact bytes with their own content type, cacheable for ever. */
    getEvidence: async ({ params }) => {
      const hash = (params.hash.startsWith('sha256:') ? params.hash : `sha256:${params.hash}`) as Sha256;
      const evidence = await store.evidence.find(hash);
      if (evidence === null) throw notFound(`No evidence with hash ${hash}.`);
      const contentType = parseEvidenceType(evidence.contentType);
      if (contentType === null) throw internal(`evidence ${hash} of type ${evidence.contentType}`);
      return { status: 200, rawBody: evidence.body, contentType, headers: IMMUTABLE };
    },

    /** The credential exactly as it was signed. */
    getStatusList: async ({ params: { domain, number } }) => ({
      ...asKnown(
        await statusLists.get(`${domain} ${number}`, () => servedLists.get(deps, domain, number)),
        CACHE_STATUS_LIST,
      ),
      contentType: STATUS_LIST_CONTENT_TYPE,
    }),
  };
};
