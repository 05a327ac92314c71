/** The service in memory, and those who use it: the clients are the real SDKs, over its `fetch`. */
import {
  createPrincipalClient,
  generatePrincipalKey,
  type PrincipalClient,
  signerFromJwk,
} from '@svc/sdk-principal';
import { type Agent, agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { createVerifier, type Verifier } from '@svc/sdk-rp';
import { createClock, type TestClock } from './clock.ts';
import { createRegistry } from './registry.ts';
import { createServiceFetch, type KeyHolder } from './routes.ts';

/** A Principal of the service in memory, with a client of its own. */
export interface TestPrincipal {
  readonly did: string;
  /** Issues and revokes; what else the interface has is answered 501. */
  readonly client: PrincipalClient;
}

/** A relying party of the service in memory, with a verifier of its own. */
export interface TestRelyingParty {
  readonly did: string;
  /** For `requireAuthority`, `protect` or your own calls of `verify`. */
  readonly verifier: Verifier;
}

/** A service in memory. What is made with it knows each other and nobody else. */
export interface TestService {
  readonly did: string;
  /** The time of everything here. Agents sign by it with `now: service.clock.now`. */
  readonly clock: TestClock;
  /** Whom a Grant is given by; its domain counts as verified. */
  createPrincipal(): Promise<TestPrincipal>;
  /** A new Agent; nobody has to register it. */
  createAgent(): Promise<Agent>;
  /** A relying party, under the profile `svc-base-v1`, with Proofs of at most 60 s. */
  createRelyingParty(): TestRelyingParty;
}

const BASE_URL = 'https://svc.example';
const SERVICE = 'did:web:svc.example';

/**
 * A service of its own for each test: nothing is shared and nothing stays.
 * @example
 * const service = await createTestService({ now: '2026-11-20T08:00:00Z' });
 * const { verifier, did } = service.createRelyingParty();
 */
export async function createTestService({
  now = new Date(),
}: {
  readonly now?: Date | string;
} = {}): Promise<TestService> {
  const clock = createClock(now);
  const registry = createRegistry();
  const holders = new Map<string, KeyHolder>();
  const key = await generatePrincipalKey();
  const kid = `${SERVICE}#receipt-1`;
  const document = documentOf(SERVICE, kid, key.publicKeyMultibase);
  const parts = {
    registry,
    holders,
    document,
    did: SERVICE,
    now: clock.now,
    signer: signerFromJwk(key.privateJwk, kid),
  };
  const common = { baseUrl: BASE_URL, fetch: createServiceFetch(parts), now: clock.now };
  const newHolder = (role: KeyHolder['role']) => {
    const did = `${SERVICE}:${role}:test-${holders.size + 1}`;
    const apiKey = `test_${role}_${holders.size + 1}`;
    holders.set(apiKey, { did, role });
    return { did, apiKey };
  };
  return {
    did: SERVICE,
    clock,
    async createPrincipal() {
      const { did, apiKey } = newHolder('principal');
      const { privateJwk, publicKeyMultibase } = await generatePrincipalKey();
      registry.documents.set(did, JSON.stringify(documentOf(did, `${did}#key-1`, publicKeyMultibase)));
      const signer = signerFromJwk(privateJwk, `${did}#key-1`);
      return { did, client: createPrincipalClient({ ...common, apiKey, signer }) };
    },
    createAgent: async () => agentFromJwk((await generateAgentKey()).privateJwk),
    createRelyingParty() {
      const { did, apiKey } = newHolder('rp');
      return { did, verifier: createVerifier({ ...common, apiKey, serviceDid: SERVICE, relyingParty: did }) };
    },
  };
}

const documentOf = (did: string, kid: string, publicKeyMultibase: string) => ({
  '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
  id: did,
  verificationMethod: [{ id: kid, type: 'Multikey', controller: did, publicKeyMultibase }],
  assertionMethod: [kid],
});
