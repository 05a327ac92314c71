/**
 * The Grant: a W3C Verifiable Credential 2.0 in which a Principal gives an Agent authority (protocol §2). Parsing
 * proves form only. Everything in the result is unauthenticated until P3 has verified the signature.
 */
import {
  DAY_MS,
  type DidKey,
  type DidWeb,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ParsedJws,
  parseCompactJws,
  parseDidKey,
  parseDidWeb,
  parseTimestamp,
} from '@svc/codec';
import { type Capability, parseCapability } from './capability.ts';
import { type CredentialStatus, parseCredentialStatus } from './credential-status.ts';
import { type GrantId, isGrantId } from './ids.ts';
import { parseProtectedHeader } from './jws-header.ts';
import { Findings, hasDuplicates, isStringArray, member, unknownMembers } from './members.ts';
import { type Parsed, parsed, refused } from './parsed.ts';

/** The `typ` of a Grant's protected header. */
export const GRANT_TYP = 'vc+jwt';
/** The maximum length of a Grant that is parsed, in characters. */
export const GRANT_MAX_CHARS = 16_384;
/** The `@context` of a Grant, exactly. */
export const GRANT_CONTEXT = [
  'https://www.w3.org/ns/credentials/v2',
  'https://www.w3.org/ns/credentials/undefined-terms/v2',
] as const;
/** The `type` of a Grant, exactly. */
export const GRANT_TYPE = ['VerifiableCredential', 'SvcGrant'] as const;
/** The maximum number of Capabilities of a Grant. */
export const GRANT_MAX_CAPABILITIES = 16;
/** The maximum number of relying parties in a Grant's audience. */
export const GRANT_MAX_AUDIENCE = 64;
/** The longest validity of a Grant, in milliseconds: 90 days. */
export const GRANT_MAX_VALIDITY_MS = 90 * DAY_MS;

/** A Grant that is well formed (interface §Grant, protocol §2). Its signature has not been verified. */
export interface Grant {
  readonly kid: string;
  readonly id: GrantId;
  readonly issuer: DidWeb;
  /** `credentialSubject.id`. */
  readonly agent: DidKey;
  /** As signed: whole seconds, `Z`. */
  readonly validFrom: string;
  readonly validUntil: string;
  readonly validFromMs: number;
  readonly validUntilMs: number;
  readonly status: CredentialStatus;
  /** Null: any registered relying party. */
  readonly audience: readonly DidWeb[] | null;
  readonly capabilities: readonly Capability[];
  /** As presented: the text that `grant_hash` is computed over. */
  readonly jws: string;
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** Why a Grant cannot be read: malformed, or well formed but with an unsupported feature. */
export type GrantRefusal = 'GRANT_MALFORMED' | 'UNSUPPORTED_FEATURE';

/**
 * `budgetProblem`: what is wrong with the form of the budgets, or null. Under a profile with budgets it makes the Grant
 * malformed, whatever else is found; under any other, budget keys are unknown constraint keys.
 */
export type ParsedGrant = Parsed<Grant, GrantRefusal> & { readonly budgetProblem: string | null };

const MEMBERS = new Set([
  '@context',
  'id',
  'type',
  'issuer',
  'validFrom',
  'validUntil',
  'credentialStatus',
  'credentialSubject',
  'iss',
  'sub',
  'jti',
  'iat',
]);
const SUBJECT_MEMBERS = new Set(['id', 'audience', 'capabilities']);

/** Parses the Grant as received. `GRANT_MALFORMED` takes precedence where both reasons apply. */
export const parseGrant = (text: string): ParsedGrant => {
  const findings = new Findings();
  const grant = parse(text, findings);
  const { budgetProblem } = findings;
  return grant.ok
    ? { ok: true, value: grant.value, budgetProblem }
    : { ok: false, reason: grant.reason, problem: grant.problem, budgetProblem };
};

const parse = (text: string, findings: Findings): Parsed<Grant, GrantRefusal> => {
  const jws = parseCompactJws(text, GRANT_MAX_CHARS);
  if (!jws.ok) return refused('GRANT_MALFORMED', jws.problem);
  const kid = parseProtectedHeader(jws.header, { typ: GRANT_TYP, cty: 'vc' }, findings);
  const grant = parseCredential(jws, text, kid, findings);
  const worst = findings.worst;
  if (worst !== null)
    return refused(worst.grade === 'malformed' ? 'GRANT_MALFORMED' : 'UNSUPPORTED_FEATURE', worst.problem);
  return grant === null ? refused('GRANT_MALFORMED', 'the Grant is incomplete') : parsed(grant);
};

const parseCredential = (
  { payload, signingInput, signature }: ParsedJws,
  jws: string,
  kid: string | null,
  findings: Findings,
): Grant | null => {
  for (const name of unknownMembers(payload, MEMBERS)) findings.unsupported(`unknown member "${name}"`);
  if (!equalsList(member(payload, '@context'), GRANT_CONTEXT))
    findings.malformed('@context is not that of a Grant');
  if (!equalsList(member(payload, 'type'), GRANT_TYPE)) findings.malformed('type is not that of a Grant');
  const id = member(payload, 'id');
  if (!isGrantId(id)) findings.malformed('id must be urn:svc:grant: and a ULID');
  const issuer = parseIssuer(member(payload, 'issuer'), findings);
  const validity = parseValidity(payload, findings);
  const status = parseCredentialStatus(member(payload, 'credentialStatus'), findings);
  const subject = parseSubject(member(payload, 'credentialSubject'), findings);
  const expected = { iss: issuer, sub: subject?.agent ?? null, jti: isGrantId(id) ? id : null };
  checkJwtClaims(payload, expected, findings);
  if (!isGrantId(id) || issuer === null || validity === null || status === null || subject === null)
    return null;
  if (kid === null) return null;
  const { validFrom, validUntil, validFromMs, validUntilMs } = validity;
  const { agent, audience, capabilities } = subject;
  return {
    kid,
    id,
    issuer,
    agent,
    validFrom,
    validUntil,
    validFromMs,
    validUntilMs,
    status,
    audience,
    capabilities,
    jws,
    signingInput,
    signature,
  };
};

const equalsList = (value: JsonValue | undefined, expected: readonly string[]): boolean =>
  isStringArray(value) && value.length === expected.length && value.every((item, i) => item === expected[i]);

const parseIssuer = (value: JsonValue | undefined, findings: Findings): DidWeb | null => {
  const did = typeof value === 'string' ? parseDidWeb(value) : null;
  if (did === null) findings.malformed('issuer must be a did:web DID');
  return did?.did ?? null;
};

type Validity = Pick<Grant, 'validFrom' | 'validUntil' | 'validFromMs' | 'validUntilMs'>;

const parseValidity = (payload: JsonObject, findings: Findings): Validity | null => {
  const validFrom = member(payload, 'validFrom');
  const validUntil = member(payload, 'validUntil');
  const validFromMs = typeof validFrom === 'string' ? parseTimestamp(validFrom) : null;
  const validUntilMs = typeof validUntil === 'string' ? parseTimestamp(validUntil) : null;
  if (validFromMs === null || validUntilMs === null) {
    findings.malformed('validFrom and validUntil must be YYYY-MM-DDThh:mm:ssZ');
    return null;
  }
  if (validFromMs >= validUntilMs) findings.malformed('validFrom must be before validUntil');
  if (validUntilMs - validFromMs > GRANT_MAX_VALIDITY_MS)
    findings.malformed('validUntil must be at most 90 days after validFrom');
  return { validFrom: validFrom as string, validUntil: validUntil as string, validFromMs, validUntilMs };
};

type Subject = Pick<Grant, 'agent' | 'audience' | 'capabilities'>;

const parseSubject = (value: JsonValue | undefined, findings: Findings): Subject | null => {
  if (Array.isArray(value)) {
    findings.unsupported('several credential subjects');
    return null;
  }
  if (!isJsonObject(value)) {
    findings.malformed('credentialSubject must be an object');
    return null;
  }
  for (const name of unknownMembers(value, SUBJECT_MEMBERS))
    findings.unsupported(`credentialSubject has an unknown member "${name}"`);
  const id = member(value, 'id');
  const agent = typeof id === 'string' ? parseDidKey(id) : null;
  if (agent === null) findings.malformed('credentialSubject.id must be an Ed25519 did:key');
  const audience = parseAudience(member(value, 'audience'), findings);
  const capabilities = parseCapabilities(member(value, 'capabilities'), findings);
  return agent === null ? null : { agent: agent.did, audience, capabilities };
};

const parseAudience = (value: JsonValue | undefined, findings: Findings): readonly DidWeb[] | null => {
  if (value === undefined) return null;
  const dids: DidWeb[] = [];
  if (isStringArray(value))
    for (const text of value) {
      const did = parseDidWeb(text);
      if (did !== null) dids.push(did.did);
    }
  const wellFormed =
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= GRANT_MAX_AUDIENCE &&
    dids.length === value.length &&
    !hasDuplicates(dids);
  if (!wellFormed) findings.malformed(`audience must be 1 to ${GRANT_MAX_AUDIENCE} distinct did:web DIDs`);
  return dids;
};

const parseCapabilities = (value: JsonValue | undefined, findings: Findings): readonly Capability[] => {
  if (!Array.isArray(value) || value.length < 1 || value.length > GRANT_MAX_CAPABILITIES) {
    findings.malformed(`capabilities must be an array of 1 to ${GRANT_MAX_CAPABILITIES}`);
    return [];
  }
  const capabilities: Capability[] = [];
  for (const [i, item] of value.entries()) {
    const capability = parseCapability(item, `capabilities[${i}]`, findings);
    if (capability !== null) capabilities.push(capability);
  }
  return capabilities;
};

/**
 * `iss`, `sub` and `jti` may occur beside the credential's own members if they have the same values; `iat` is not used.
 * `expected` is null where the credential's member could not be read: the claim is then only checked to be a string.
 */
const checkJwtClaims = (
  payload: JsonObject,
  expected: Readonly<Record<'iss' | 'sub' | 'jti', string | null>>,
  findings: Findings,
): void => {
  for (const name of ['iss', 'sub', 'jti'] as const) {
    const value = member(payload, name);
    if (value === undefined) continue;
    if (typeof value !== 'string' || (expected[name] !== null && value !== expected[name]))
      findings.malformed(`claim ${name} must equal the credential's own member`);
  }
  const iat = member(payload, 'iat');
  if (iat !== undefined && typeof iat !== 'number') findings.malformed('claim iat must be an integer');
};
