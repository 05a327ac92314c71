/**
 * The transport of conformance runs to endpoints named by tenants (interface §Conformance): the outbound guard, and in
 * addition the service's own hosts are refused by name and by their current addresses.
 */
import type { Config } from '@svc/config';
import type { Transport } from '@svc/conformance';
import { createOutbound, type DnsPort } from '@svc/outbound';
import { type ServiceIdentity, serviceHostsOf } from '@svc/service';
import { addressesOfThisMachine } from '../addresses-of-this-machine.ts';

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
