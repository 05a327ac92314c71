import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { createVerifier } from '@svc/sdk-rp';
import { baseUrl, register } from './operator.ts';

// A Principal lets an Agent spend up to 500.00 USD on any order.
const key = await generatePrincipalKey();
const { serviceDid, acme, shop } = await register(key.registration);
const signer = signerFromJwk(key.privateJwk, `${acme.did}#key-1`);
const principal = createPrincipalClient({ baseUrl, apiKey: acme.api_key, signer });
const agent = agentFromJwk((await generateAgentKey()).privateJwk);
const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/*'] })];
const { grant, grantId } = await principal.grants.issue({ agent: agent.did, capabilities });
// The Agent signs a Proof for one request to one relying party, which asks, and checks the signed Receipt.
const request = { method: 'POST', url: 'https://shop.example/checkout' };
const action = { type: 'commerce:purchase', resource: 'order/7', amount: 42_700, currency: 'USD' } as const;
const proof = await signProof({ agent, grantId, audience: shop.did, ...request, action });
const verifier = createVerifier({ baseUrl, apiKey: shop.api_key, serviceDid, relyingParty: shop.did });
console.log((await verifier.verify({ grant, proof, action, request })).decision); // ALLOW
await principal.grants.revoke(grantId); // from here on: DENY, AUTHORITY_REVOKED
