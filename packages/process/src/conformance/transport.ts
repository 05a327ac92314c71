/**
 * The way of a conformance run to an endpoint that somebody else names (interface §Conformance): the outbound guard, and
 * hosts of the service refused on top of it, by every name and by every address that they have at that moment.
 */
import { networkInterfaces } from 'node:os';
import type { Config } from '@svc/config';
import type { Transport } from '@svc/conformance';
import { createOutbound, type DnsPort } from '@svc/outbound';
import { type ServiceIdentity, serviceHostsOf } from '@svc/service';

export const createRunTransport = (
  { env, outboundMap }: Pick<Config, 'env' | 'outboundMap'>,
  identity: Pick<ServiceIdentity, 'baseUrl' | 'statusBaseUrl' | 'domain'>,
  dns?: DnsPort,
): Transport =>
  createOutbound({
    mode: env,
    outboundMap,
    forbidden: { hosts: serviceHostsOf(identity), addresses: addressesOfThisMachine },
    ...(dns === undefined ? {} : { dns }),
  });

const addressesOfThisMachine = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
