/**
 * A Principal, an Agent and a service for the tests: real keys, a real Grant, and Receipts that the real engine decided
 * and that are signed. The keys are for tests only.
 */
import { createHash, createPublicKey } from 'node:crypto';
import {
  encodeMultikey,
  encodeUlid,
  formatTimestamp,
  type JsonObject,
  portableCrypto,
  signCompactJws,
} from '@svc/codec';
import { privateKeyOfSeed } from '@svc/codec/native';
import { type Action, evaluateJson, type ReceiptBody } from '@svc/protocol';
import { createPrincipalClient, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, type Ed25519PrivateJwk, signProof } from '@svc/sdk-principal/agent';
import type { Received, Reply } from '@svc/testkit/sdk/scripted-server';

export const SERVICE = 'did:web:svc.example';
export const SHOP = 'did:web:shop.example';
export const ORIGIN = 'https://shop.example';
export const ISSUER = 'did:web:acme.example';
export const NOW_MS = Date.parse('2026-11-20T08:00:00.750Z');
export const order: Action = {
  type: 'commerce:purchase',
  resource: 'order/1',
  amount: 42_700,
  currency: 'USD',
};
export const request = { method: 'POST', url: `${ORIGIN}/orders?draft=1` };

/** An Ed25519 key derived from its name. */
function testJwk(name: string): Ed25519PrivateJwk {
  const seed = createHash('sha256').update(name).digest();
  const jwk = createPublicKey(privateKeyOfSeed(seed)).export({
    format: 'jwk',
  });
  return { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '', d: seed.toString('base64url') };
}

function documentOf(did: string, keys: Record<string, Ed25519PrivateJwk>) {
  const methods = Object.entries(keys).map(([fragment, { x }]) => ({
    id: `${did}#${fragment}`,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase: encodeMultikey(Buffer.from(x, 'base64url')),
  }));
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  };
}

const receiptKeys = { 'receipt-1': testJwk('receipt-1'), 'receipt-2': testJwk('receipt-2') };
export const serviceDocument = documentOf(SERVICE, receiptKeys);
/** The document before the second key was added. */
export const olderDocument = documentOf(SERVICE, { 'receipt-1': receiptKeys['receipt-1'] });

const principalKey = testJwk('principal');
const principalDocument = JSON.stringify(documentOf(ISSUER, { 'key-1': principalKey }));
export const agent = agentFromJwk(testJwk('agent'));

const listUrl = 'https://status.svc.example/acme.example/1';
const allocation = {
  id: 'urn:svc:grant:01M7VZGCZ8ABCDEFGHJKMNPQRS',
  issuer: ISSUER,
  agent: agent.did,
  credentialStatus: {
    id: `${listUrl}#94567`,
    type: 'BitstringStatusListEntry',
    statusPurpose: 'revocation',
    statusListIndex: '94567',
    statusListCredential: listUrl,
  },
  allocated_at: '2026-11-20T08:00:00.000Z',
};

export const { grant, grantId } = await createPrincipalClient({
  baseUrl: 'https://svc.example',
  apiKey: 'dk_principal_test',
  signer: signerFromJwk(principalKey, `${ISSUER}#key-1`),
  now: () => NOW_MS,
  fetch: async () => Response.json(allocation, { status: 201 }),
}).grants.issue({
  agent: agent.did,
  capabilities: [purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/**'] })],
});

/** A Proof for `request` unless changed; different each time. */
export const newProof = (
  change: Partial<{ method: string; url: string; action: Action; audience: string; now: () => number }> = {},
) => signProof({ agent, grantId, audience: SHOP, ...request, action: order, now: () => NOW_MS, ...change });

export interface ReceiptChange {
  relyingParty?: string;
  key?: keyof typeof receiptKeys;
  kid?: string;
  typ?: string;
  /** Time of the evaluation; `NOW_MS` unless given. */
  atMs?: number;
  /** Changes the body before it is signed. */
  body?: (body: ReceiptBody) => object;
}

let receipts = 0;

/** The answer of `/verify` to a body: the engine's verdict, signed. */
export async function decide(
  body: { grant: string; proof: string; action: unknown },
  spent: boolean,
  change: ReceiptChange = {},
): Promise<JsonObject> {
  const atMs = change.atMs ?? NOW_MS;
  const now = formatTimestamp(atMs);
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(0, receipts++);
  const evaluated = evaluateJson(
    {
      receipt_id: `drc_${encodeUlid(atMs, random)}`,
      now,
      relying_party: { did: change.relyingParty ?? SHOP, profile: 'svc-base-v1', proof_window_seconds: 60 },
      ...body,
      facts: {
        principal: {
          found: { verification: 'verified', key: { state: 'active', since: '2026-01-01T00:00:00.000Z' } },
        },
        document: { found: { document: principalDocument, resolved_at: now } },
        allocation: {
          found: {
            issuer: ISSUER,
            agent: agent.did,
            status_list_credential: listUrl,
            status_list_index: '94567',
            allocated_at: allocation.allocated_at,
          },
        },
        status: {
          found: {
            revoked: false,
            credential_hash: `sha256:${'a'.repeat(64)}`,
            valid_from: '2026-11-20T07:59:50Z',
            checked_at: now,
          },
        },
        spent: { found: spent },
      },
    },
    portableCrypto,
  );
  return signReceipt((change.body?.(evaluated) ?? evaluated) as JsonObject, change);
}

export async function signReceipt(body: JsonObject, change: ReceiptChange = {}): Promise<JsonObject> {
  const key = change.key ?? 'receipt-1';
  const signer = signerFromJwk(receiptKeys[key], change.kid ?? `${SERVICE}#${key}`);
  return { ...body, receipt: await signCompactJws(signer, { typ: change.typ ?? 'svc-receipt+jwt' }, body) };
}

/** A service with its document and `/verify`, where each Proof is valid for one ALLOW. */
export function serviceScript(change: () => ReceiptChange = () => ({})) {
  const spent = new Set<string>();
  return async ({ path, body }: Received): Promise<Reply> => {
    if (path === '/.well-known/did.json') return { json: serviceDocument };
    const input = JSON.parse(body);
    const receipt = await decide(input, spent.has(input.proof), change());
    if (receipt.decision === 'ALLOW') spent.add(input.proof);
    return { json: receipt };
  };
}
