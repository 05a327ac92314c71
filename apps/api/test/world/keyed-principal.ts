/** A managed Principal with several signing keys, and clients that sign with each. */

import { GRANT_MAX_CHARS, GRANT_TYP, type JsonObject, parseCompactJws, signCompactJws } from '@svc/protocol';
import {
  createPrincipalClient,
  generatePrincipalKey,
  type PrincipalClient,
  type Signer,
  signerFromJwk,
} from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { type Deployment, randomSlug } from './deployment.ts';
import type { HeldGrant, Tenants } from './tenants.ts';

export interface KeyedPrincipal {
  readonly did: string;
  readonly key: string;
  readonly slug: string;
  readonly kids: readonly string[];
  readonly clients: readonly PrincipalClient[];
  readonly signers: readonly Signer[];
  /** The Principal in the form of `issueGrant`, signing with the key of that position. */
  signingWith(index: number): Tenants;
}

export const createKeyedPrincipal = async (
  { register, process }: Deployment,
  keyCount: number,
  { rpDid, rpKey }: Pick<Tenants, 'rpDid' | 'rpKey'>,
  orgId?: string,
): Promise<KeyedPrincipal> => {
  const pairs = await Promise.all(Array.from({ length: keyCount }, () => generatePrincipalKey()));
  const slug = randomSlug('k');
  const { did, key } = await register('/principals', {
    kind: 'managed',
    slug,
    keys: pairs.map(({ registration }) => registration),
    ...(orgId === undefined ? {} : { org_id: orgId }),
  });
  const kids = pairs.map((_, i) => `${did}#key-${i + 1}`);
  const signers = pairs.map(({ privateJwk }, i) => signerFromJwk(privateJwk, kids[i] ?? ''));
  const clients = signers.map((signer) =>
    createPrincipalClient({ baseUrl: process.baseUrl, apiKey: key, signer }),
  );
  const agent = agentFromJwk((await generateAgentKey()).privateJwk);
  const signingWith = (index: number): Tenants => {
    const principal = clients[index];
    if (principal === undefined) throw new Error(`there is no key ${index}`);
    return { principalDid: did, principalKey: key, principal, agent, rpDid, rpKey };
  };
  return { did, key, slug, kids, clients, signers, signingWith };
};

/** Signs another Grant with the same id and a changed payload, with the key of that position. */
export const signAnew = async (
  { signers }: KeyedPrincipal,
  { grant, grantId }: HeldGrant,
  change: (payload: GrantPayload) => void,
  index = 0,
): Promise<HeldGrant> => {
  const signer = signers[index];
  const jws = parseCompactJws(grant, GRANT_MAX_CHARS);
  if (signer === undefined || !jws.ok) throw new Error(`there is no key ${index}, or it is no Grant`);
  const payload = structuredClone(jws.payload) as JsonObject & GrantPayload;
  change(payload);
  return { grant: await signCompactJws(signer, { typ: GRANT_TYP }, payload), grantId };
};

interface GrantPayload {
  validFrom: string;
  iat?: number;
  readonly credentialSubject: { readonly capabilities: { readonly constraints: { maxAmount: number } }[] };
}
