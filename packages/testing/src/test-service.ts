/** The service in memory and its users. The clients are the real SDKs, over the service's `fetch`. */
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
  /** Issues and revokes Grants; other routes of the interface are answered 501. */
  readonly client: PrincipalClient;
}

/** A relying party of the service in memory, with a verifier of its own. */
export interface TestRelyingParty {
  readonly did: string;
  /** For `requireAuthority`, `protect` or your own calls of `verify`. */
  readonly verifier: Verifier;
}

/** A service in memory. Its Principals, Agents and relying parties exist in this service only. */
export interface TestService {
  readonly did: string;
  /** The clock of this service and its clients. Let Agents sign by it with `now: service.clock.now`. */
  readonly clock: TestClock;
  /** A Principal that issues Grants; its domain counts as verified. */
  createPrincipal(): Promise<TestPrincipal>;
  /** A new Agent; it need not be registered. */
  createAgent(): Promise<Agent>;
  /** A relying party, under the profile `svc-base-v1`, with Proofs of at most 60 s. */
  createRelyingParty(): TestRelyingParty;
}

const BASE_URL = 'https://svc.example';
const SERVICE = 'did:web:svc.example';

/**
 * Makes a service for each test: services share nothing and leave nothing behind.
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
