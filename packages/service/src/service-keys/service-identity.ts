/** Who the service is: its DID, its addresses and its published keys (interface §Authentication rule 4). */
import { type DidWeb, type JsonObject, jcs } from '@svc/protocol';
import { CONTEXTS, multikeyMethod } from '../principals/did-document.ts';
import type { KeySet } from './key-set.ts';

export interface ServiceIdentity {
  readonly did: DidWeb;
  /** As it stands in DIDs: a port is `%3A<port>`. */
  readonly domain: string;
  readonly env: 'development' | 'production';
  readonly baseUrl: string;
  /** Issues the sandbox's Grants, which no plan has to cover. Its slug is reserved. */
  readonly sandboxPrincipal: DidWeb;
  /** Status lists are `{statusBaseUrl}/<principal domain>/<n>`. */
  readonly statusBaseUrl: string;
  readonly receiptKeys: KeySet;
  readonly statusKeys: KeySet;
}

/** The service's own DID document: every receipt and status key that ever signed, for ever. RFC 8785 text. */
export const buildServiceDidDocument = ({ did, receiptKeys, statusKeys }: ServiceIdentity): string => {
  const keys = [...receiptKeys.published, ...statusKeys.published];
  return jcs({
    '@context': [...CONTEXTS],
    id: did,
    verificationMethod: keys.map(({ kid, publicKeyMultibase }) =>
      multikeyMethod(did, kid, publicKeyMultibase),
    ),
    assertionMethod: keys.map(({ kid }) => kid),
  } satisfies JsonObject);
};
