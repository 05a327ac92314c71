/** A delegated Authorization Capability, invoked by an HTTP signature: both Ed25519, the delegation as a JSON-LD proof. */
import { Ed25519Signature2020, suiteContext } from '@digitalbazaar/ed25519-signature-2020';
import { Ed25519VerificationKey2020 } from '@digitalbazaar/ed25519-verification-key-2020';
import { signCapabilityInvocation } from '@digitalbazaar/http-signature-zcap-invoke';
import { verifyCapabilityInvocation } from '@digitalbazaar/http-signature-zcap-verify';
import {
  CapabilityDelegation,
  constants,
  createRootCapability,
  extendDocumentLoader,
} from '@digitalbazaar/zcap';
import signatures from 'jsonld-signatures';
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

const TARGET = 'https://shop.example/checkout';
const METHOD = 'POST';
const HOST = 'shop.example';

const generate = async () => {
  const key = await Ed25519VerificationKey2020.generate();
  key.controller = `did:key:${key.fingerprint()}`;
  key.id = `${key.controller}#${key.fingerprint()}`;
  return key;
};

/** The document of a did:key, with the members that are read. */
const didDocumentOf = (key: Ed25519VerificationKey2020) => ({
  '@context': ['https://www.w3.org/ns/did/v1', suiteContext.CONTEXT_URL],
  id: key.controller,
  verificationMethod: [key.export({ publicKey: true })],
  assertionMethod: [key.id],
  capabilityDelegation: [key.id],
  capabilityInvocation: [key.id],
});

export async function zcapPeer(): Promise<Peer> {
  const principal = await generate();
  const root = createRootCapability({ controller: principal.controller, invocationTarget: TARGET });
  const documents = new Map<string, object>([
    [root.id, root],
    [principal.controller, didDocumentOf(principal)],
    [principal.id, principal.export({ publicKey: true, includeContext: true })],
    [suiteContext.CONTEXT_URL, suiteContext.contexts.get(suiteContext.CONTEXT_URL) ?? {}],
  ]);
  const keys = new Map<string, Ed25519VerificationKey2020>();
  const documentLoader = extendDocumentLoader(async (url) => {
    const document = documents.get(url);
    if (document === undefined) return signatures.strictDocumentLoader(url);
    return { contextUrl: null, documentUrl: url, document, tag: 'static' };
  });
  const requests: Readonly<Record<string, string>>[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const agent = await generate();
    keys.set(agent.id, agent);
    documents.set(agent.controller, didDocumentOf(agent));
    const delegation = {
      '@context': [constants.ZCAP_CONTEXT_URL, suiteContext.CONTEXT_URL],
      id: `urn:zcap:delegated:${i}`,
      parentCapability: root.id,
      invocationTarget: TARGET,
      controller: agent.controller,
      expires: new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z'),
      allowedAction: [METHOD],
    };
    const capability = await signatures.sign(delegation, {
      suite: new Ed25519Signature2020({ signer: principal.signer() }),
      purpose: new CapabilityDelegation({ parentCapability: root.id }),
      documentLoader,
    });
    requests.push(
      await signCapabilityInvocation({
        ...{ url: TARGET, method: METHOD, headers: { host: HOST, date: new Date().toUTCString() } },
        ...{ capability, capabilityAction: METHOD, invocationSigner: agent.signer() },
      }),
    );
  }
  const getVerifier = async ({ keyId }: { readonly keyId: string }) => {
    const key = keys.get(keyId);
    demand(key !== undefined, 'zcap: an unknown key');
    return {
      verifier: key.verifier(),
      verificationMethod: key.export({ publicKey: true, includeContext: true }),
    };
  };
  return {
    name: 'zcap with an HTTP signature',
    signatures: 2,
    without: 'the action, revocation, replays, Receipt',
    run: async (i) => {
      const { verified, error } = await verifyCapabilityInvocation({
        ...{ url: TARGET, method: METHOD, headers: { host: HOST, ...turnOf(requests, i) } },
        ...{ expectedHost: HOST, expectedAction: METHOD, expectedTarget: TARGET },
        ...{ expectedRootCapability: root.id, suite: new Ed25519Signature2020() },
        ...{ getVerifier, documentLoader },
      });
      demand(verified, `zcap: ${error?.message}`);
    },
  };
}
