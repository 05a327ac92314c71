/** `GET /evidence/{hash}`: the exact bytes, with their own content type, for ever. */
import { EVIDENCE_TYPES, type Routes } from '@svc/contract';
import type { Sha256 } from '@svc/protocol';
import { internal, notFound, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export const getEvidence =
  (deps: ServiceDeps): Handler<Routes['getEvidence']> =>
  async ({ params }) => {
    const hash = (params.hash.startsWith('sha256:') ? params.hash : `sha256:${params.hash}`) as Sha256;
    const evidence = await deps.store.evidence.find(hash);
    if (evidence === null) throw notFound(`No evidence with hash ${hash}.`);
    const contentType = EVIDENCE_TYPES.find((type) => type === evidence.contentType);
    if (contentType === undefined) throw internal(`evidence ${hash} of type ${evidence.contentType}`);
    return { status: 200, rawBody: evidence.body, contentType, headers };
  };
