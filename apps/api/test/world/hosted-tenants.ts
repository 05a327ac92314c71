/**
 * Tenants with a hosted Principal whose domain is proven: one org has registered it, and it can be given to another.
 */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { contractFetch } from './contract-call.ts';
import { type Deployment, randomSlug } from './deployment.ts';
import { didDocument, PROOF, type PrincipalHost } from './principal-host.ts';
import type { Tenants } from './tenants.ts';

/** The `SVC_OUTBOUND_MAP` of the deployment maps `name` to `host`. */
export interface Domain {
  readonly host: PrincipalHost;
  readonly name: string;
}

/** Uses the Agent and the relying party of `others`. */
export const createHostedTenants = async (
  deployment: Deployment,
  domain: Domain,
  orgKey: string,
  others: Tenants,
): Promise<Tenants> => {
  const slug = randomSlug('p');
  const did = `did:web:${domain.name}:${slug}`;
  const { privateJwk, registration } = await generatePrincipalKey();
  domain.host.pages.set(`/${slug}/did.json`, didDocument(did, [registration]));
  const { key } = await deployment.register('/principals', { kind: 'hosted', did }, orgKey);
  await proveDomain(deployment, domain, did, key);
  const signer = signerFromJwk(privateJwk, `${did}#key-1`);
  const { baseUrl } = deployment.process;
  const principal = createPrincipalClient({ baseUrl, apiKey: key, signer, fetch: contractFetch });
  return { ...others, principalDid: did, principalKey: key, principal };
};

/** Publishes the token of the DID's present holder, and has the domain checked. */
export const proveDomain = async (
  deployment: Deployment,
  { host }: Domain,
  did: string,
  key: string,
): Promise<void> => {
  const verify = () => deployment.call('POST', `/principals/${encodeURIComponent(did)}/verify`, { key });
  const { token } = (await verify()).json.verification as { token: string };
  host.pages.set(PROOF, [host.pages.get(PROOF) ?? [], { did, token }].flat());
  const { state } = (await verify()).json.verification as { state: string };
  if (state !== 'verified') throw new Error(`${did} is ${state} after its domain was proven`);
};
