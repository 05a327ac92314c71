/** The service's public address. An Agent must not be given an address that only works inside a private network. */
import { helpBase } from '@svc/sdk-core';

/**
 * `baseUrl` if its host is that of the service's did:web DID, which every Receipt contains; else the https address of
 * that host. Null if neither is available.
 */
export function publicUrlOf(baseUrl: string, did: unknown): string | null {
  const base = helpBase(baseUrl);
  const [, name = ''] = /^did:web:([^:]+)/.exec(String(did)) ?? [];
  const host = name.replace(/%3A/gi, ':').toLowerCase();
  if (base !== null && new URL(base).host === host) return base;
  return host === '' ? null : helpBase(`https://${host}`);
}
