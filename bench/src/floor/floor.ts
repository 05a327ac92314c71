/**
 * The floor: the least that one durable ALLOW costs with node:crypto and PostgreSQL. It parses, verifies both
 * signatures strictly under keys it already has, hashes, signs a Receipt, and answers once its rows are committed. It
 * makes no other check, authenticates no caller and denies without a Receipt. It is not fit for use; it shows the cost
 * that no complete service can be far below.
 */
import { createPublicKey, hash, randomFillSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { encodeUlid } from '@svc/protocol';
import { Client } from 'pg';
import { endWithParent, readProgramEnvironment } from '../fixtures/program-environment.ts';
import { type ACTION, type Holder, PURCHASE_REQUEST } from '../fixtures/world.ts';
import { BatchWriter } from './batch-writer.ts';
import { ReceiptWriter } from './receipt-writer.ts';
import { createTables } from './row-set.ts';
import { verifyStrict } from './strict-signature.ts';

const { port, databaseUrl, world } = readProgramEnvironment();
endWithParent();

const setup = new Client({ connectionString: databaseUrl });
await setup.connect();
await createTables(setup);
await setup.end();

const importKey = (key: Holder['publicJwk']) => createPublicKey({ key: { ...key }, format: 'jwk' });
const principalKey = importKey(world.principal.publicJwk);
const agentKeys = new Map(world.holders.map(({ agent, publicJwk }) => [agent, importKey(publicJwk)]));
const receipts = new ReceiptWriter(world);
const rows = await BatchWriter.open(databaseUrl, world);
const random = new Uint8Array(10);

interface GrantClaims {
  readonly id: string;
  readonly validUntil: string;
  readonly credentialStatus: { readonly statusListIndex: string };
  readonly credentialSubject: { readonly id: string };
}

interface ProofClaims {
  readonly iss: string;
  readonly grant_id: string;
  readonly jti: string;
}

/** The body of an ALLOW, or null. */
async function decide(text: string): Promise<string | null> {
  const request = JSON.parse(text) as { grant: string; proof: string; action: typeof ACTION };
  const grant = split<GrantClaims>(request.grant);
  const proof = split<ProofClaims>(request.proof);
  const { iss, grant_id: grantId, jti } = proof.claims;
  const agentKey = agentKeys.get(iss);
  if (agentKey === undefined || grant.claims.id !== grantId || grant.claims.credentialSubject.id !== iss)
    return null;
  if (!verifyStrict(principalKey, grant.signingInput, grant.signature)) return null;
  if (!verifyStrict(agentKey, proof.signingInput, proof.signature)) return null;

  const nowMs = Date.now();
  const receiptId = `drc_${encodeUlid(nowMs, randomFillSync(random))}`;
  const { jws, text: answer } = receipts.write({
    agent: iss,
    evaluatedAt: new Date(nowMs).toISOString(),
    expiresAt: grant.claims.validUntil,
    grantHash: sha256(request.grant),
    grantId,
    proofHash: sha256(request.proof),
    receiptId,
    requestHash: sha256(JSON.stringify({ action: request.action, ...PURCHASE_REQUEST })),
    statusListIndex: grant.claims.credentialStatus.statusListIndex,
  });
  return (await rows.insert({ receiptId, grantId, jti, jws })) ? answer : null;
}

function split<Claims>(jws: string) {
  const payload = jws.indexOf('.') + 1;
  const end = jws.indexOf('.', payload);
  return {
    signingInput: jws.slice(0, end),
    signature: Buffer.from(jws.slice(end + 1), 'base64url'),
    claims: JSON.parse(Buffer.from(jws.slice(payload, end), 'base64url').toString()) as Claims,
  };
}

const sha256 = (text: string) => `sha256:${hash('sha256', text, 'hex')}`;

async function answer(text: string, response: ServerResponse) {
  const receipt = await decide(text).catch(() => null);
  const body = receipt ?? '{"decision":"DENY"}';
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  // The body is ASCII only, and is sent with the head in one piece.
  response.end(body, 'latin1');
}

createServer((request: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void answer(Buffer.concat(chunks).toString(), response));
}).listen(port, '127.0.0.1');
