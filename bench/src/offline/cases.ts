/** The measured checks, the same in Node and in a browser. */
import type { CryptoPort } from '@svc/protocol';
import { readServiceKeys, verifyReceipt } from '@svc/receipts';
import { audit } from '@svc/receipts/audit';
import { verifyBundle } from '@svc/receipts/bundle';

/** The input, all of it JSON, so that it can be passed to a page. */
export interface Given {
  /** The answer of the service. */
  readonly receipt: string;
  readonly bundle: string;
  readonly serviceDidDocument: object;
  readonly audited: {
    readonly grant: string;
    readonly proof: string;
    readonly action: unknown;
    readonly proofWindowSeconds: number;
  };
  /** The service's key, the signing input of the Receipt and its signature: bytes as base64url. */
  readonly bare: { readonly publicKey: string; readonly signingInput: string; readonly signature: string };
}

export const CASES = ['bare', 'receipt', 'bundle', 'audit'] as const;
export type Case = (typeof CASES)[number];
/** Microseconds of one check, by round. */
export type Costs = Readonly<Record<Case, readonly number[]>>;

const bytesOf = (base64url: string): Uint8Array =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));

function prepare(given: Given, crypto: CryptoPort): Readonly<Record<Case, () => boolean>> {
  const { receipt, bundle, serviceDidDocument, audited, bare } = given;
  const read = readServiceKeys(serviceDidDocument);
  if (!read.ok) throw new Error('the service document does not parse');
  const [publicKey, signature] = [bytesOf(bare.publicKey), bytesOf(bare.signature)];
  const evidenceOf = verifyBundle(bundle, { serviceDidDocument }, crypto);
  const evidence = evidenceOf.ok ? evidenceOf.evidence : {};
  const { grant, proof, action, proofWindowSeconds } = audited;
  const input = { receipt, serviceDidDocument: read.keys, grant, proof, action, evidence, crypto };
  return {
    bare: () => crypto.verify(publicKey, bare.signingInput, signature),
    receipt: () => verifyReceipt(receipt, read.keys, { crypto }).ok,
    bundle: () => verifyBundle(bundle, { serviceDidDocument }, crypto).ok,
    audit: () => audit({ ...input, relyingParty: { proofWindowSeconds } }).ok,
  };
}

export interface Turns {
  readonly rounds: number;
  readonly turnMs: number;
}

/** Checks between two readings of the clock. */
const AT_ONCE = 4;

/**
 * Runs the checks in turn, so that other work of the machine affects all. `clockMs` is the CPU time of the process, or
 * the wall clock where that is not available. Throws where a check does not pass.
 */
export function measureCases(
  given: Given,
  crypto: CryptoPort,
  { rounds, turnMs }: Turns,
  clockMs: () => number,
): Costs {
  const checks = prepare(given, crypto);
  const costs: Record<Case, number[]> = { bare: [], receipt: [], bundle: [], audit: [] };
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++)
    for (const name of round % 2 === 0 ? CASES : CASES.toReversed()) {
      const beganMs = clockMs();
      let count = 0;
      do {
        for (let i = 0; i < AT_ONCE; i++) if (!checks[name]()) throw new Error(`${name}: refused`);
        count += AT_ONCE;
      } while (clockMs() - beganMs < turnMs);
      if (round > 0) costs[name].push(((clockMs() - beganMs) * 1_000) / count);
    }
  return costs;
}
