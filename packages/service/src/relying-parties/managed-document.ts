/**
 * The DID document of a managed relying party, as published at `/rp/{slug}/did.json`. It has no keys; it only makes the
 * DID resolvable.
 */
import { type JsonObject, jcs } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { CONTEXTS } from '../principals/did-document.ts';
import { managedRelyingPartyDid } from '../principals/domain.ts';

export const getRelyingPartyDidDocument = async (
  { store, identity }: Pick<ServiceDeps, 'store' | 'identity'>,
  slug: string,
): Promise<string> => {
  const did = managedRelyingPartyDid(identity, slug);
  if ((await store.relyingParties.find(did)) === null) throw notFound(`No managed relying party ${slug}.`);
  return jcs({ '@context': [CONTEXTS[0]], id: did, verificationMethod: [] } satisfies JsonObject);
};
