/** A guard in production mode whose public addresses are hosts on loopback. */
import type { AddressAnswer, DnsPort, DnsTxtAnswer, Endpoint } from '@svc/outbound';
import { createOutbound, type Outbound, type OutboundOptions } from '@svc/outbound';

/** Public addresses that the tests chose; nothing is ever sent to them. */
export const HOST_ADDRESS = '93.184.215.14';
export const OTHER_ADDRESS = '93.184.215.15';

export const addresses = (...list: string[]): AddressAnswer => ({ kind: 'addresses', addresses: list });

/** Answers from tables. By default every name resolves to HOST_ADDRESS and has no TXT record. */
export const tableDns = (
  byHost: Readonly<Record<string, AddressAnswer>> = {},
  byTxtName: Readonly<Record<string, DnsTxtAnswer>> = {},
): DnsPort => ({
  addresses: async (name) => byHost[name] ?? addresses(HOST_ADDRESS),
  txt: async (name) => byTxtName[name] ?? { kind: 'absent' },
});

export interface World {
  readonly outbound: Outbound;
  /** Checked endpoints that a connection was about to be made to. */
  readonly checked: readonly Endpoint[];
}

/** `routes`: checked address → actual address. */
export const worldOf = (
  ca: string,
  routes: Readonly<Record<string, Endpoint>>,
  options: Partial<OutboundOptions> = {},
): World => {
  const checked: Endpoint[] = [];
  const outbound = createOutbound(
    { mode: 'production', outboundMap: null, dns: tableDns(), ...options },
    {
      ca,
      connectTo: (endpoint) => {
        checked.push(endpoint);
        const route = routes[endpoint.address];
        if (route === undefined) throw new Error(`no route to ${endpoint.address}`);
        return route;
      },
    },
  );
  return { outbound, checked };
};
