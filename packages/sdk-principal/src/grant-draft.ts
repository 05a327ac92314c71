/**
 * Writing a Grant (protocol §2). A draft goes through the parser that the service will use, so whatever the service
 * would refuse for its form is refused here, with a sentence, before an id is reserved for it.
 */
import {
  type Capability,
  formatSeconds,
  GRANT_CONTEXT,
  GRANT_TYP,
  GRANT_TYPE,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseDidKey,
  parseDidWeb,
  parseGrant,
  parseTimestamp,
  portableCrypto,
  type Signer,
  signCompactJws,
} from '@svc/protocol';
import { type GrantAllocation, SvcError } from '@svc/sdk-core';
import { buildStatusEntry } from '@svc/status-list';

export interface GrantRequest {
  /** The Agent's did:key. */
  agent: string;
  /** 1–16; see `purchase` and `apiCall`. */
  capabilities: readonly Capability[];
  /** Now unless given; whole seconds. */
  validFrom?: Date | string;
  /** At most 90 days after `validFrom`; 30 days unless this or `lifetimeSeconds` is given. */
  validUntil?: Date | string;
  lifetimeSeconds?: number;
  /** 1–64 relying party DIDs. Absent: any registered relying party. */
  audience?: readonly string[];
}

/** The claims that do not depend on what the service allocates. */
export interface GrantDraft {
  issuer: string;
  agent: string;
  validFrom: string;
  validUntil: string;
  subject: JsonObject;
}

const DEFAULT_LIFETIME_SECONDS = 30 * 86_400;

/** @throws SvcError `invalid-argument` naming what is wrong. */
export async function buildGrantDraft(
  request: GrantRequest,
  kid: string,
  nowMs: number,
): Promise<GrantDraft> {
  const fromMs = request.validFrom === undefined ? wholeSecond(nowMs) : toMs(request.validFrom, 'validFrom');
  const audience = request.audience === undefined ? {} : { audience: [...request.audience] };
  const draft: GrantDraft = {
    issuer: issuerOf(kid),
    agent: strictAgent(request.agent),
    validFrom: seconds(fromMs, 'validFrom'),
    validUntil: seconds(endMs(request, fromMs), 'validUntil'),
    subject: { id: request.agent, ...audience, capabilities: request.capabilities.map(plainJson) },
  };
  const sample = { id: `urn:svc:grant:${'0'.repeat(26)}`, credentialStatus: SAMPLE_STATUS };
  const unsigned: Signer = { kid, sign: () => new Uint8Array(64) };
  const problem = grantProblem(await signGrant(draft, sample, unsigned));
  if (problem !== null) throw invalid(problem);
  return draft;
}

/** As long as an entry gets: the draft is then not shorter than the Grant that follows. */
const SAMPLE_STATUS = /* @__PURE__ */ buildStatusEntry({
  credentialUrl: `https://status.example/${'x'.repeat(200)}`,
  index: 10 ** 12,
});

/** Rejects with whatever the signer rejects with. */
export function signGrant(
  draft: GrantDraft,
  allocation: Pick<GrantAllocation, 'credentialStatus'> & { id: string },
  signer: Signer,
): Promise<string> {
  return signCompactJws(
    signer,
    { typ: GRANT_TYP },
    {
      '@context': [...GRANT_CONTEXT],
      id: allocation.id,
      type: [...GRANT_TYPE],
      issuer: draft.issuer,
      validFrom: draft.validFrom,
      validUntil: draft.validUntil,
      credentialStatus: { ...allocation.credentialStatus },
      credentialSubject: draft.subject,
    },
  );
}

/** What is wrong with the form of a Grant, or null. */
export function grantProblem(grant: string): string | null {
  const parsed = parseGrant(grant);
  return parsed.ok ? null : parsed.problem;
}

/** The DID before the fragment of a signer's `kid`. */
function issuerOf(kid: string): string {
  const hash = kid.indexOf('#');
  const did = parseDidWeb(kid.slice(0, hash));
  if (hash < 0 || did === null) throw invalid("the signer's kid must be a key of a did:web DID");
  return did.did;
}

function strictAgent(agent: string): string {
  const parsed = parseDidKey(agent);
  if (parsed === null || !portableCrypto.isStrictKey(parsed.publicKey)) {
    throw invalid('agent must be the did:key of a usable Ed25519 key');
  }
  return parsed.did;
}

function endMs(request: GrantRequest, fromMs: number): number {
  const { validUntil, lifetimeSeconds } = request;
  if (validUntil === undefined) return fromMs + (lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS) * 1000;
  if (lifetimeSeconds !== undefined) throw invalid('give validUntil or lifetimeSeconds, not both');
  return toMs(validUntil, 'validUntil');
}

function toMs(value: Date | string, name: string): number {
  const ms = typeof value === 'string' ? parseTimestamp(value) : wholeSecond(value.getTime());
  if (ms === null) throw invalid(`${name} must be a Date or YYYY-MM-DDThh:mm:ssZ`);
  return ms;
}

const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

function seconds(ms: number, name: string): string {
  try {
    return formatSeconds(ms);
  } catch {
    throw invalid(`${name} must be a whole second between the years 0000 and 9999`);
  }
}

/** A Capability as JSON, so that a member set to undefined is an absent one. */
function plainJson(capability: Capability): JsonObject {
  const copy: JsonValue = JSON.parse(JSON.stringify(capability) ?? 'null');
  if (!isJsonObject(copy)) throw invalid('every Capability must be an object');
  return copy;
}

const invalid = (message: string): SvcError => new SvcError('invalid-argument', message);
