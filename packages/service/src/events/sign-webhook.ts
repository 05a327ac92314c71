/**
 * Builds what is sent to a webhook endpoint: the body, and the headers of Standard Webhooks 1.0.0 with their
 * signatures.
 */
import { createHmac } from 'node:crypto';
import type { Signer } from '@svc/protocol';
import { formatTimestamp } from '@svc/protocol';
import type { TakenDelivery } from '../ports/event-deliveries.ts';

export interface SignedWebhook {
  /** JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;
}

/** The payload. The signature covers `subscription_id`, so an event sent to one endpoint is not valid at another. */
export const webhookBody = ({
  type,
  occurredAtMs,
  subscriptionId,
  data,
}: Pick<TakenDelivery, 'type' | 'occurredAtMs' | 'subscriptionId' | 'data'>): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${formatTimestamp(occurredAtMs)}","subscription_id":${JSON.stringify(subscriptionId)},"data":${data}}`;

/**
 * Signs with each secret (`v1`, HMAC-SHA256) and with a key of the service (`v1a`, Ed25519). `id` must contain no full
 * stop. Rejects as the signer does.
 */
export const signWebhook = async (
  { id, atSeconds, body }: { readonly id: string; readonly atSeconds: number; readonly body: string },
  secrets: readonly Uint8Array[],
  signer: Pick<Signer, 'sign'>,
): Promise<SignedWebhook> => {
  const signed = Buffer.from(`${id}.${atSeconds}.${body}`);
  const signature = await signer.sign(signed);
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(atSeconds),
      'webhook-signature': [
        ...secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`),
        `v1a,${Buffer.from(signature).toString('base64')}`,
      ].join(' '),
    },
  };
};
