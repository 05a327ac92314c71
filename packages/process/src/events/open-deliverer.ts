/** The dependencies with which a process delivers events; null if the deployment sends no webhooks. */
import type { Config } from '@svc/config';
import type { ServiceDeps } from '@svc/service';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DelivererDeps } from './deliverer.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { createWebhookPort } from './transport.ts';

export const openDeliverer = (
  service: ServiceDeps,
  config: Pick<Config, 'env' | 'outboundMap' | 'ssf'>,
  logger: Pick<Logger, 'warn'>,
  registry: Registry,
): DelivererDeps | null => {
  const { store, clock, holds, identity, log, webhookSecrets } = service;
  if (webhookSecrets.current === null) return null;
  return {
    eventLog: store.eventLog,
    eventDeliveries: store.eventDeliveries,
    revocationNotices: store.revocationNotices,
    webhooks: createWebhookPort(config, identity),
    secrets: webhookSecrets,
    rootMissing: new Set(),
    identity,
    clock,
    holds,
    log,
    pushes: config.ssf,
    onAttempt: createDeliveryMetrics(registry, store.eventDeliveries, config.ssf),
    onFailure: (error) => logger.warn({ err: error }, 'webhook.not_delivered'),
  };
};
