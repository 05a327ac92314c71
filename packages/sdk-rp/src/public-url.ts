/** Where others find the service: what an Agent is told must be no address that is only known inside. */
import { helpBase } from '@svc/sdk-core';

/**
 * `baseUrl` where it has the host of the service's did:web DID, which stands in every Receipt; else the https address
 * of that host. Null where neither is one.
 */
export function publicUrlOf(baseUrl: string, did: unknown): string | null {
  const base = helpBase(baseUrl);
  const [, name = ''] = /^did:web:([^:]+)/.exec(String(did)) ?? [];
  const host = name.replace(/%3A/gi, ':').toLowerCase();
  if (base !== null && new URL(base).host === host) return base;
  return host === '' ? null : helpBase(`https://${host}`);
}
