/** The facts of an evaluate vector in the form that `evaluate` takes, for tests that run the engine part by part. */

import type { CryptoPort, DidKey, DidWeb, ReceiptId, Sha256 } from '../src/index.ts';
import {
  type EvaluateInput,
  type EvaluationContext,
  type Facts,
  found,
  isProfileId,
  parseDidDocument,
  parseGrant,
  parseSnapshot,
  type ReceiptContext,
  sha256Of,
  unavailable,
} from '../src/index.ts';

/** Balances are needed only where there is a budget. */
export type FoundFacts = Required<Omit<Facts, 'balances'>> & Pick<Facts, 'balances'>;

/** Every given fact must be found, as in the input of an ALLOW. */
export const factsOf = (input: EvaluateInput, crypto: CryptoPort): FoundFacts => {
  const { principal, document, allocation, status, spent, balances: published } = input.facts;
  const balances = typeof published === 'object' ? parseSnapshot(published.found) : null;
  const answers = [principal, document, allocation, status, spent];
  const grant = parseGrant(input.grant);
  if (
    typeof principal === 'string' ||
    typeof document === 'string' ||
    typeof allocation === 'string' ||
    typeof status === 'string' ||
    typeof spent === 'string' ||
    !grant.ok
  )
    throw new Error(`every fact must be found, not ${JSON.stringify(answers)}`);
  const { verification, key } = principal.found;
  const parsedDocument = parseDidDocument(document.found.document, grant.value.issuer);
  return {
    principal: found({
      verification,
      key: key && { state: key.state, sinceMs: Date.parse(key.since) },
    }),
    document:
      parsedDocument === null
        ? unavailable
        : found({
            document: parsedDocument,
            hash: sha256Of(crypto, document.found.document),
            resolvedAtMs: Date.parse(document.found.resolved_at),
          }),
    allocation: found({
      issuer: allocation.found.issuer as DidWeb,
      agent: allocation.found.agent as DidKey,
      statusListCredential: allocation.found.status_list_credential,
      statusListIndex: allocation.found.status_list_index,
      allocatedAtMs: Date.parse(allocation.found.allocated_at),
      grantHash: (allocation.found.grant_hash ?? null) as Sha256 | null,
    }),
    status: found({
      revoked: status.found.revoked,
      credentialHash: status.found.credential_hash as Sha256,
      validFrom: status.found.valid_from,
      checkedAtMs: Date.parse(status.found.checked_at),
    }),
    ...(balances === null ? {} : { balances: found(balances) }),
    spent: found(spent.found),
  };
};

export const contextOf = (input: EvaluateInput, crypto: CryptoPort): EvaluationContext & ReceiptContext => ({
  receiptId: input.receipt_id as ReceiptId,
  relyingParty: {
    did: input.relying_party.did as DidWeb,
    profile: isProfileId(input.relying_party.profile) ? input.relying_party.profile : 'svc-base-v1',
    proofWindowSeconds: input.relying_party.proof_window_seconds,
  },
  nowMs: Date.parse(input.now),
  crypto,
});
