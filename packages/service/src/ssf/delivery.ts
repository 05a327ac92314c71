/** Where the SETs of a stream go, as its receiver asks for it. */
import type { ServiceDeps } from '../deps.ts';
import { internal, invalidRequest } from '../errors.ts';
import { parseSendable } from '../events/subscriptions.ts';
import type { SealedAuthorization, StreamDelivery } from '../ports/streams.ts';
import { type PushPlace, sealAuthorization } from './authorization.ts';

export const POLL = 'urn:ietf:rfc:8936';
export const PUSH = 'urn:ietf:rfc:8935';

export type DeliveryRequest =
  | { readonly method: typeof POLL; readonly endpoint_url?: string | undefined }
  | {
      readonly method: typeof PUSH;
      readonly endpoint_url: string;
      readonly authorization_header?: string | undefined;
    };

type Deps = Pick<ServiceDeps, 'identity' | 'mappedHosts' | 'findUrlRefusal' | 'webhookSecrets' | 'random'>;

/**
 * `sent` undefined: it is polled. `now`: what is kept of if the URL stays, namely the header, which the receiver cannot
 * read and so need not send again; null: nothing is. Throws 400 for a URL that would not be asked, or another than this
 * service has for polls.
 */
export const deliveryOf = (
  deps: Deps,
  streamId: string,
  sent: DeliveryRequest | undefined,
  now: StreamDelivery | null,
): StreamDelivery => {
  if (sent?.method !== PUSH) {
    const url = sent?.endpoint_url;
    if (url !== undefined && url !== pollUrlOf(deps, streamId))
      throw invalidRequest(
        'delivery.endpoint_url is for this service to say of a stream that is polled; leave it out',
      );
    return { method: 'poll' };
  }
  const url = parseSendable(deps, sent.endpoint_url, 'delivery.endpoint_url');
  const header = sent.authorization_header;
  const kept = now?.method === 'push' && now.url === url ? now.authorization : null;
  const authorization = header === undefined ? kept : seal(deps, { streamId, url }, header);
  return { method: 'push', url, authorization };
};

export const pollUrlOf = ({ identity }: Pick<ServiceDeps, 'identity'>, streamId: string): string =>
  `${identity.baseUrl}/ssf/streams/${streamId}/poll`;

const seal = ({ webhookSecrets, random }: Deps, place: PushPlace, header: string): SealedAuthorization => {
  const sealed = sealAuthorization(webhookSecrets, place, header, random.bytes(12));
  if (sealed === null) throw internal('no root of webhook secrets');
  return sealed;
};
