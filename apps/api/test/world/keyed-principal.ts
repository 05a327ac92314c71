/** A managed Principal with several signing keys, and clients that sign with each. */
import {
  createPrincipalClient,
  generatePrincipalKey,
  type PrincipalClient,
  signerFromJwk,
} from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { type Deployment, randomSlug } from './deployment.ts';
import type { Tenants } from './tenants.ts';

export interface KeyedPrincipal {
  readonly did: string;
  readonly key: string;
  readonly slug: string;
  readonly kids: readonly string[];
  readonly clients: readonly PrincipalClient[];
  /** The Principal as `issueGrant` takes it, signing with the key of that position. */
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
  const clients = pairs.map(({ privateJwk }, i) =>
    createPrincipalClient({
      baseUrl: process.baseUrl,
      apiKey: key,
      signer: signerFromJwk(privateJwk, kids[i] ?? ''),
    }),
  );
  const agent = agentFromJwk((await generateAgentKey()).privateJwk);
  const signingWith = (index: number): Tenants => {
    const principal = clients[index];
    if (principal === undefined) throw new Error(`there is no key ${index}`);
    return { principalDid: did, principalKey: key, principal, agent, rpDid, rpKey };
  };
  return { did, key, slug, kids, clients, signingWith };
};
