/** How the SETs of a stream are delivered, as its receiver requests it. */
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
 * The delivery of a stream. `sent` undefined: the stream is polled. `now`: the present delivery. Its header is kept if
 * the URL stays the same, because the receiver cannot read the header and so need not send it again. Null: nothing is
 * kept. Throws 400 for a URL that SETs are not sent to, and for a poll URL other than this service's.
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
