/** The data of the service in memory: Principals with their documents, Grants, spent Proofs. */
import {
  type EvaluateInput,
  encodeUtf8,
  formatTimestamp,
  type JsonObject,
  parseGrant,
  parseProof,
  portableCrypto,
  type Sha256,
  sha256Of,
} from '@svc/protocol';

export interface AllocatedGrant {
  readonly id: string;
  readonly issuer: string;
  readonly agent: string;
  readonly credentialStatus: {
    readonly statusListIndex: string;
    readonly statusListCredential: string;
  } & JsonObject;
  readonly allocated_at: string;
}

export interface Registry {
  /** The text of a Principal's DID document, by its DID. */
  readonly documents: Map<string, string>;
  readonly grants: Map<string, AllocatedGrant>;
  /** Hash of the Grant that was first allowed under each id; no other Grant is allowed under that id (protocol §10). */
  readonly allowed: Map<string, Sha256>;
  /** The time of each revocation, by Grant id. */
  readonly revoked: Map<string, string>;
  readonly spent: Set<string>;
  /** Answers of `POST /verify`, by relying party and `Idempotency-Key`. */
  readonly answers: Map<string, StoredAnswer>;
}

export interface StoredAnswer {
  /** The body of the request, as received. */
  readonly body: string;
  /** The Receipt as JSON text. */
  readonly receipt: Promise<string>;
  readonly atMs: number;
}

export const createRegistry = (): Registry => ({
  documents: new Map(),
  grants: new Map(),
  allowed: new Map(),
  revoked: new Map(),
  spent: new Set(),
  answers: new Map(),
});

/**
 * The key under which a Proof is spent, independent of its spelling: the Grant id and `jti` (protocol §7, Spending).
 */
function spendKeyOf(proof: string): string {
  const parsed = parseProof(proof);
  return parsed.ok ? `${parsed.value.grantId} ${parsed.value.jti}` : proof;
}

/** Records that an ALLOW spends the Proof, and that the first ALLOW binds the Grant to its id. */
export function noteAllowed({ spent, allowed }: Registry, grant: string, proof: string): void {
  spent.add(spendKeyOf(proof));
  const parsed = parseGrant(grant);
  if (parsed.ok && !allowed.has(parsed.value.id))
    allowed.set(parsed.value.id, sha256Of(portableCrypto, grant));
}

/** The facts about a Grant and a Proof at an instant, as the engine needs them. */
export function findFacts(
  registry: Registry,
  grant: string,
  proof: string,
  nowMs: number,
): EvaluateInput['facts'] {
  const now = formatTimestamp(nowMs);
  const parsed = parseGrant(grant);
  const issuer = parsed.ok ? parsed.value.issuer : '';
  const document = registry.documents.get(issuer);
  const allocated = parsed.ok ? registry.grants.get(parsed.value.id) : undefined;
  const hasKey = parsed.ok && document?.includes(JSON.stringify(parsed.value.kid)) === true;
  const key = hasKey ? ({ state: 'active', since: formatTimestamp(0) } as const) : null;
  return {
    principal: document === undefined ? 'absent' : { found: { verification: 'verified', key } },
    document: document === undefined ? 'absent' : { found: { document, resolved_at: now } },
    allocation: allocated === undefined ? 'absent' : { found: allocationOf(allocated, registry) },
    status: {
      found: {
        revoked: allocated !== undefined && registry.revoked.has(allocated.id),
        credential_hash: sha256Of(portableCrypto, encodeUtf8(issuer)),
        valid_from: now.replace(/\.\d+Z$/, 'Z'),
        checked_at: now,
      },
    },
    spent: { found: registry.spent.has(spendKeyOf(proof)) },
  };
}

const allocationOf = (
  { id, issuer, agent, allocated_at, credentialStatus }: AllocatedGrant,
  { allowed }: Registry,
) => ({
  issuer,
  agent,
  status_list_credential: credentialStatus.statusListCredential,
  status_list_index: credentialStatus.statusListIndex,
  allocated_at,
  grant_hash: allowed.get(id) ?? null,
});
