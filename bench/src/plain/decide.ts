/**
 * One decision written without regard to performance: look up, verify with jose, compare and store, all inside one knex
 * transaction. It decides the same request as the service does, but needs a Grant and a Proof that can be read; it
 * refuses anything else without a Receipt.
 */

import { randomBytes } from 'node:crypto';
import { encodeBase64url, encodeUlid, parseDidKey } from '@svc/protocol';
import canonicalize from 'canonicalize';
import { CompactSign, type CryptoKey, compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import type { Knex } from 'knex';
import { buildAllowBody, RECEIPT_KID } from '../fixtures/receipt-body.ts';
import type { ACTION, CAPABILITY, World } from '../fixtures/world.ts';
import { sha256Hex } from './tables.ts';

export interface Caller {
  readonly did: string;
  readonly key_id: string;
  readonly proof_window_seconds: number;
}

export interface VerifyRequest {
  readonly grant: string;
  readonly proof: string;
  readonly action: typeof ACTION;
}

interface GrantClaims {
  readonly id: string;
  readonly issuer: string;
  readonly validFrom: string;
  readonly validUntil: string;
  readonly credentialSubject: {
    readonly id: string;
    readonly audience?: readonly string[];
    readonly capabilities: readonly (typeof CAPABILITY)[];
  };
}

interface ProofClaims {
  readonly iss: string;
  readonly aud: string;
  readonly grant_id: string;
  readonly htm: string;
  readonly htu: string;
  readonly action: typeof ACTION;
  readonly iat: number;
  readonly jti: string;
}

interface PrincipalKeyRow {
  readonly did: string;
  readonly verification_state: string;
  readonly document: string;
  readonly document_hash: string;
  readonly public_jwk: JWK;
  readonly state: string;
}

interface GrantRow {
  readonly principal: string;
  readonly agent: string;
  readonly status_list_index: string;
  readonly revoked_at: Date | null;
  readonly credential: string;
  readonly credential_hash: string;
}

/** Resolves with the Receipt, stored once the transaction has committed. Rejects a request that cannot be read. */
export async function decide(
  trx: Knex.Transaction,
  caller: Caller,
  request: VerifyRequest,
  { world, signingKey }: { readonly world: World; readonly signingKey: CryptoKey | Uint8Array },
): Promise<object> {
  const kid = decodeProtectedHeader(request.grant).kid ?? '';
  const key = await trx('principal_keys')
    .join('principals', 'principals.did', 'principal_keys.principal')
    .where('kid', kid)
    .first<PrincipalKeyRow | undefined>();
  if (key === undefined) throw new Error('no such key');
  const grant = await verifyJws<GrantClaims>(request.grant, key.public_jwk);

  const agent = parseDidKey((decodeProtectedHeader(request.proof).kid ?? '').split('#')[0] ?? '');
  if (agent === null) throw new Error('not a did:key');
  const agentJwk = { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(agent.publicKey) };
  const proof = await verifyJws<ProofClaims>(request.proof, agentJwk);

  const row = await trx('grants')
    .join('status_lists', 'status_lists.url', 'grants.status_list')
    .where('id', grant.id)
    .first<GrantRow | undefined>();
  if (row === undefined) throw new Error('no such Grant');

  const now = new Date();
  let reason = findReason({ key, row, grant, proof, request, caller, now });
  if (reason === null) {
    const spent = await trx('spent_proofs')
      .insert({
        grant_id: proof.grant_id,
        jti: proof.jti,
        expires_at: new Date((proof.iat + 300) * 1000),
      })
      .onConflict(['grant_id', 'jti'])
      .ignore()
      .returning('jti');
    if (spent.length === 0) reason = 'PROOF_REPLAYED';
  }

  const body = {
    ...buildAllowBody(world, {
      agent: proof.iss,
      evaluatedAt: now.toISOString(),
      expiresAt: grant.validUntil,
      grantHash: `sha256:${sha256Hex(request.grant)}`,
      grantId: grant.id,
      proofHash: `sha256:${sha256Hex(request.proof)}`,
      receiptId: `drc_${encodeUlid(now.getTime(), randomBytes(10))}`,
      requestHash: `sha256:${sha256Hex(canonical({ action: request.action, htm: proof.htm, htu: proof.htu }))}`,
      statusListIndex: row.status_list_index,
    }),
    ...(reason === null ? {} : { decision: 'DENY', reason, authority: null }),
  };
  const jws = await new CompactSign(Buffer.from(canonical(body)))
    .setProtectedHeader({ alg: 'EdDSA', kid: RECEIPT_KID, typ: 'svc-receipt+jwt' })
    .sign(signingKey);
  await trx('receipts').insert({
    receipt_id: body.receipt_id,
    relying_party: caller.did,
    principal: grant.issuer,
    grant_id: grant.id,
    agent: proof.iss,
    key_id: caller.key_id,
    decision: body.decision,
    reason,
    evaluated_at: now,
    amount: request.action.amount,
    currency: request.action.currency,
    resource: request.action.resource,
    jws,
  });
  await trx('evidence')
    .insert([
      { hash: key.document_hash, body: key.document },
      { hash: row.credential_hash, body: row.credential },
    ])
    .onConflict('hash')
    .ignore();
  return { ...body, receipt: jws };
}

async function verifyJws<Claims>(jws: string, jwk: JWK): Promise<Claims> {
  const { payload } = await compactVerify(jws, await importJWK(jwk, 'EdDSA'));
  return JSON.parse(Buffer.from(payload).toString()) as Claims;
}

interface Facts {
  readonly key: PrincipalKeyRow;
  readonly row: GrantRow;
  readonly grant: GrantClaims;
  readonly proof: ProofClaims;
  readonly request: VerifyRequest;
  readonly caller: Caller;
  readonly now: Date;
}

/** The reason of a denial, or null. */
function findReason({ key, row, grant, proof, request, caller, now }: Facts): string | null {
  const { action } = request;
  const subject = grant.credentialSubject;
  if (key.verification_state !== 'verified') return 'ISSUER_UNVERIFIED';
  if (key.state === 'compromised') return 'ISSUER_KEY_COMPROMISED';
  if (key.did !== grant.issuer) return 'ISSUER_KEY_NOT_FOUND';
  if (now < new Date(grant.validFrom)) return 'GRANT_NOT_YET_VALID';
  if (now >= new Date(grant.validUntil)) return 'GRANT_EXPIRED';
  if (row.revoked_at !== null || row.principal !== grant.issuer || row.agent !== subject.id)
    return 'AUTHORITY_REVOKED';
  if (subject.audience !== undefined && !subject.audience.includes(caller.did)) return 'AUDIENCE_MISMATCH';
  if (proof.iss !== subject.id) return 'PROOF_AGENT_MISMATCH';
  if (proof.grant_id !== grant.id) return 'PROOF_GRANT_MISMATCH';
  if (proof.aud !== caller.did) return 'PROOF_AUDIENCE_MISMATCH';
  const ageSeconds = now.getTime() / 1000 - proof.iat;
  if (ageSeconds > caller.proof_window_seconds || ageSeconds < -5) return 'PROOF_EXPIRED';
  if (canonical(proof.action) !== canonical(action)) return 'PROOF_ACTION_MISMATCH';
  const authority = subject.capabilities.find(
    ({ action: type, constraints, resources }) =>
      type === action.type &&
      constraints.currency === action.currency &&
      Number(constraints.maxAmount) >= action.amount &&
      (resources ?? ['*']).some((pattern) => matches(pattern, action.resource)),
  );
  return authority === undefined ? 'ACTION_NOT_AUTHORIZED' : null;
}

function matches(pattern: string, resource: string): boolean {
  if (pattern === '*') return true;
  const source = pattern
    .split(/(\*+)/)
    .map((part) => {
      if (part === '*') return '[^/]*';
      return part.startsWith('*') ? '.*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`, 's').test(resource);
}

const canonical = (value: object): string => canonicalize(value) ?? '';
