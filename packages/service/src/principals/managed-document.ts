/** The DID document of a managed Principal, as published at `/org/{slug}/did.json`. */
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { managedPrincipalDid } from './domain.ts';

export const getManagedDidDocument = async (
  { store, identity }: ServiceDeps,
  slug: string,
): Promise<string> => {
  const principal = await store.principals.find(managedPrincipalDid(identity, slug));
  if (principal?.document == null) throw notFound(`No managed Principal ${slug}.`);
  return principal.document.body;
};
