/** `GET /status-lists/{domain}/{number}`: the credential exactly as it was signed (protocol §9). */
import type { Routes } from '@svc/contract';
import { notFound, type ServiceDeps, STATUS_LIST_CONTENT_TYPE } from '@svc/service';
import type { Handler } from '../../http/index.ts';

const headers = { 'Cache-Control': 'max-age=30' };

export const getStatusList =
  (deps: ServiceDeps): Handler<Routes['getStatusList']> =>
  async ({ params }) => {
    // In an address the colon before a port may stand as it is or escaped; in the stored one it is escaped.
    const domain = params.domain.replace(':', '%3A');
    const url = `${deps.identity.statusBaseUrl}/${domain}/${params.number}`;
    const stored = await deps.store.verify.findStatusCredential(url);
    if (stored === null) throw notFound('No such status list.');
    return { status: 200, rawBody: stored.credential, contentType: STATUS_LIST_CONTENT_TYPE, headers };
  };
