/**
 * The transport to endpoints that customers name: the outbound guard; in addition the service's own hosts are refused.
 * Only the status and `Retry-After` of an answer are used; its body is not read, except that of a 400.
 */
import type { Config } from '@svc/config';
import { createOutbound, type DnsPort, type OutboundAnswer, type TestSeams } from '@svc/outbound';
import { type ServiceIdentity, serviceHostsOf, type WebhookPort } from '@svc/service';
import { addressesOfThisMachine } from '../addresses-of-this-machine.ts';

/** Requests under way at once. */
export const WEBHOOK_PLACES = 256;
export const WEBHOOK_TIMEOUT_MS = 15_000;

export const createWebhookPort = (
  { env, outboundMap }: Pick<Config, 'env' | 'outboundMap'>,
  identity: Pick<ServiceIdentity, 'baseUrl' | 'statusBaseUrl' | 'domain'>,
  {
    dns,
    seams,
    timeoutMs = WEBHOOK_TIMEOUT_MS,
  }: {
    readonly dns?: DnsPort;
    readonly seams?: TestSeams;
    readonly timeoutMs?: number;
  } = {},
): WebhookPort => {
  const outbound = createOutbound(
    {
      mode: env,
      outboundMap,
      maxConcurrent: WEBHOOK_PLACES,
      forbidden: { hosts: serviceHostsOf(identity), addresses: addressesOfThisMachine },
      ...(dns === undefined ? {} : { dns }),
    },
    seams,
  );
  return {
    post: async (url, { body, ...options }) =>
      answerOf(await outbound.post(url, body, { ...options, timeoutMs, maxBytes: null })),
  };
};

const TEXT = new TextDecoder();

const answerOf = (answer: OutboundAnswer) =>
  answer.kind === 'answered'
    ? { status: answer.status, retryAfter: answer.retryAfter, error: TEXT.decode(answer.body) }
    : { problem: answer.why };
