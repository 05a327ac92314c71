/** Registers a Principal, an Agent and a relying party over the public API, as an operator would. */
import { randomBytes } from 'node:crypto';
import { PROOF_WINDOW_MAX_SECONDS } from '@svc/protocol';
import {
  createPrincipalClient,
  type Ed25519PrivateJwk,
  generatePrincipalKey,
  type PrincipalClient,
  signerFromJwk,
} from '@svc/sdk-principal';
import { type Agent, agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { createVerifier, type Verifier } from '@svc/sdk-rp';

export interface Tenants {
  readonly principalDid: string;
  readonly principalJwk: Ed25519PrivateJwk;
  /** The Principal's API key. */
  readonly principalKey: string;
  readonly principal: PrincipalClient;
  readonly agentJwk: Ed25519PrivateJwk;
  readonly agent: Agent;
  readonly relyingPartyDid: string;
  readonly relyingPartyKey: string;
  readonly verifier: Verifier;
}

export const createTenants = async (
  baseUrl: string,
  adminToken: string,
  serviceDid: string,
): Promise<Tenants> => {
  const suffix = randomBytes(4).toString('hex');
  const key = await generatePrincipalKey();
  const principal = await create(baseUrl, adminToken, '/principals', {
    kind: 'managed',
    slug: `acme-${suffix}`,
    keys: [key.registration],
  });
  const relyingParty = await create(baseUrl, adminToken, '/relying-parties', {
    kind: 'managed',
    slug: `shop-${suffix}`,
    name: 'Demonstration shop',
    // The person has five minutes to paste the command.
    proof_window_seconds: PROOF_WINDOW_MAX_SECONDS,
  });
  const { privateJwk: agentJwk } = await generateAgentKey();
  const signer = signerFromJwk(key.privateJwk, `${principal.did}#key-1`);
  return {
    principalDid: principal.did,
    principalJwk: key.privateJwk,
    principalKey: principal.api_key,
    principal: createPrincipalClient({ baseUrl, apiKey: principal.api_key, signer }),
    agentJwk,
    agent: agentFromJwk(agentJwk),
    relyingPartyDid: relyingParty.did,
    relyingPartyKey: relyingParty.api_key,
    verifier: createVerifier({
      baseUrl,
      apiKey: relyingParty.api_key,
      serviceDid,
      relyingParty: relyingParty.did,
    }),
  };
};

interface Created {
  readonly did: string;
  readonly api_key: string;
}

const create = async (baseUrl: string, adminToken: string, path: string, body: object): Promise<Created> => {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status !== 201)
    throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Created;
};
