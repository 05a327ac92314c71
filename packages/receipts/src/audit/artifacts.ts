/**
 * Reads the public evidence behind a Receipt, by hash (protocol §8). The hash authenticates the text, whatever its
 * source.
 */

import { failure } from '@svc/codec';
import {
  type Answer,
  absent,
  type CryptoPort,
  type DocumentFact,
  type Facts,
  found,
  type Presented,
  parseDidDocument,
  type ReceiptBody,
  type Sha256,
  sha256Of,
  unavailable,
} from '@svc/protocol';
import type { ServiceKeys } from '@svc/transparency/service-keys';
import type { Failure } from '../failure.ts';
import { type BalanceFailure, readBalances } from './balance-snapshot.ts';
import { readStatusEntry, type StatusListFailure } from './status-list.ts';

/** Texts by `sha256:…`: what `/evidence/{hash}` serves. */
export type EvidenceSource =
  | ((hash: string) => string | undefined)
  | ReadonlyMap<string, string>
  | Readonly<Record<string, string>>;

export type ArtifactFailure = Failure<
  'missing-evidence' | StatusListFailure['code'] | BalanceFailure['code']
>;

const findText = (source: EvidenceSource, hash: string): string | undefined => {
  if (typeof source === 'function') return source(hash);
  if (source instanceof Map) return source.get(hash);
  const texts = source as Readonly<Record<string, string>>;
  return Object.hasOwn(texts, hash) ? texts[hash] : undefined;
};

export interface ArtifactContext {
  readonly source: EvidenceSource;
  /** Answers of `GET /grants/{id}/consumption`. */
  readonly consumption: readonly unknown[];
  readonly balancesKnown: boolean;
  readonly serviceKeys: ServiceKeys;
  readonly crypto: CryptoPort;
}

/** The facts that the artifacts prove; missing or wrong artifacts are added to `failures`. */
export const readArtifacts = (
  body: ReceiptBody,
  presented: Presented,
  context: ArtifactContext,
  failures: ArtifactFailure[],
): Pick<Facts, 'document' | 'status' | 'balances'> => ({
  document: readDocument(body, presented, context, failures),
  status: readStatus(body, context, failures),
  ...readPinnedBalances(body, context, failures),
});

/** Empty if the Receipt pins no balances, or the auditor knows them. */
const readPinnedBalances = (
  body: ReceiptBody,
  { source, consumption, balancesKnown, crypto }: ArtifactContext,
  failures: ArtifactFailure[],
): Pick<Facts, 'balances'> => {
  const pinned = body.evidence.consumption;
  if (pinned === undefined || balancesKnown) return {};
  const findIn = (hash: Sha256) => findText(source, hash);
  const balances = readBalances(body, pinned, { findText: findIn, consumption, crypto });
  if ('grantId' in balances) return { balances: found(balances) };
  failures.push(balances);
  return { balances: unavailable };
};

/** The text with this hash, or null with a failure: what depends on it cannot be decided then. */
const readText = (
  hash: Sha256,
  what: string,
  path: string,
  { source, crypto }: ArtifactContext,
  failures: ArtifactFailure[],
): string | null => {
  const text = findText(source, hash);
  if (text !== undefined && sha256Of(crypto, text) === hash) return text;
  const problem =
    text === undefined
      ? `is missing; the service has it at GET /evidence/${hash}`
      : `was given as another text, of ${sha256Of(crypto, text)}`;
  failures.push(failure('missing-evidence', `${what} ${hash} ${problem}`, path));
  return null;
};

const readDocument = (
  { evidence: { issuer_resolution: resolution }, protocol }: ReceiptBody,
  { grant }: Presented,
  context: ArtifactContext,
  failures: ArtifactFailure[],
): Answer<DocumentFact> => {
  if (resolution === undefined) return protocol.checks.P2 === false ? absent : unavailable;
  const path = '/evidence/issuer_resolution/did_document_hash';
  const text = readText(resolution.did_document_hash, 'the DID document', path, context, failures);
  // A document of another issuer has the same effect as an unavailable one.
  const document = text !== null && grant.ok ? parseDidDocument(text, grant.value.issuer) : null;
  if (document === null) return unavailable;
  return found({
    document,
    hash: resolution.did_document_hash,
    resolvedAtMs: Date.parse(resolution.resolved_at),
  });
};

const readStatus = (
  { evidence: { status } }: ReceiptBody,
  context: ArtifactContext,
  failures: ArtifactFailure[],
): NonNullable<Facts['status']> => {
  if (status === undefined) return unavailable;
  const path = '/evidence/status/credential_hash';
  const text = readText(status.credential_hash, 'the status list', path, context, failures);
  if (text === null) return unavailable;
  const entry = readStatusEntry(text, status, context.serviceKeys, context.crypto);
  if ('code' in entry) {
    failures.push(entry);
    return unavailable;
  }
  return found({
    revoked: entry.revoked,
    credentialHash: status.credential_hash,
    validFrom: entry.validFrom,
    checkedAtMs: Date.parse(status.checked_at),
  });
};
