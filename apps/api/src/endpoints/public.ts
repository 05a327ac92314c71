/** What anybody needs to check a Receipt offline (interface §Endpoints, Public). */
import { EVIDENCE_TYPES } from '@svc/contract';
import type { Sha256 } from '@svc/protocol';
import {
  buildServiceDidDocument,
  DID_DOCUMENT_CONTENT_TYPE,
  getManagedDidDocument,
  internal,
  notFound,
  type ServiceDeps,
  STATUS_LIST_CONTENT_TYPE,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

/** Short: a compromised key leaves the document at once. */
const CACHE_A_MINUTE = { 'Cache-Control': 'public, max-age=60' };
const IMMUTABLE = { 'Cache-Control': 'public, max-age=31536000, immutable' };
/** Protocol §9. */
const CACHE_STATUS_LIST = { 'Cache-Control': 'max-age=30' };

export const publicEndpoints = (
  deps: ServiceDeps,
  isHealthy: () => Promise<boolean>,
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

    /** The exact bytes, with their own content type, for ever. */
    getEvidence: async ({ params }) => {
      const hash = (params.hash.startsWith('sha256:') ? params.hash : `sha256:${params.hash}`) as Sha256;
      const evidence = await store.evidence.find(hash);
      if (evidence === null) throw notFound(`No evidence with hash ${hash}.`);
      const contentType = EVIDENCE_TYPES.find((type) => type === evidence.contentType);
      if (contentType === undefined) throw internal(`evidence ${hash} of type ${evidence.contentType}`);
      return { status: 200, rawBody: evidence.body, contentType, headers: IMMUTABLE };
    },

    /** The credential exactly as it was signed. */
    getStatusList: async ({ params }) => {
      // In an address the colon before a port may stand as it is or escaped; in the stored one it is escaped.
      const domain = params.domain.replace(':', '%3A');
      const url = `${identity.statusBaseUrl}/${domain}/${params.number}`;
      const stored = await store.verify.findStatusCredential(url);
      if (stored === null) throw notFound('No such status list.');
      return {
        status: 200,
        rawBody: stored.credential,
        contentType: STATUS_LIST_CONTENT_TYPE,
        headers: CACHE_STATUS_LIST,
      };
    },
  };
};
