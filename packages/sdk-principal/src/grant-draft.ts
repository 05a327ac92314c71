/**
 * Builds a Grant (protocol §2). A draft goes through the service's own parser. So a Grant with a wrong form is refused
 * here, with a message, before an id is reserved for it.
 */
import {
  formatSeconds,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseAnyUtcTime,
  parseDidKey,
  parseDidWeb,
  portableCrypto,
  type Signer,
  signCompactJws,
} from '@svc/codec';
import { type Capability, GRANT_CONTEXT, GRANT_TYP, GRANT_TYPE, parseGrant } from '@svc/protocol';
import {
  absentAllows,
  anInteger,
  aText,
  aTextList,
  type GrantAllocation,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import { buildStatusEntry } from '@svc/status-list';

/** A Grant to issue. Times are RFC 3339, or a `Date`. */
export interface GrantRequest {
  /** The Agent's did:key. */
  agent: string;
  /** 1–16 Capabilities; see `purchase` and `apiCall`. */
  capabilities: readonly Capability[];
  /**
   * Whole seconds. Unless given, one second before the time at which the service allocated the Grant, by its clock; up
   * to one second after it if `validUntil` is 90 days away. In either case this computer's clock may differ from the
   * service's by at most five minutes.
   */
  validFrom?: Date | string;
  /**
   * At most 90 days after `validFrom`, or after now if that is not given. In the latter case, if this computer's clock
   * is ahead, the Grant ends earlier by that difference. 30 days unless this or `lifetimeSeconds` is given.
   */
  validUntil?: Date | string;
  /** In place of `validUntil`: whole seconds from `validFrom`. */
  lifetimeSeconds?: number;
  /** 1–64 DIDs of relying parties. If absent: any registered relying party. */
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
const MAX_LIFETIME_SECONDS = 90 * 86_400;

const aTime = rule(
  'a Date or an RFC 3339 time in UTC',
  (value): value is Date | string =>
    isText(value) || Object.prototype.toString.call(value) === '[object Date]',
);

const REQUEST: Rules<GrantRequest> = {
  agent: aText("the Agent's did:key DID as a string"),
  capabilities: rule(
    'an array of Capabilities, as purchase and apiCall make them',
    (value): value is readonly Capability[] => Array.isArray(value),
  ),
  validFrom: optionally(aTime),
  validUntil: absentAllows('30 days', aTime),
  lifetimeSeconds: absentAllows('30 days', anInteger(1, MAX_LIFETIME_SECONDS, 'seconds; at most 90 days')),
  audience: absentAllows('any registered relying party', aTextList('DIDs of relying parties', 1, 64)),
};

/** The request at the time of the call: a copy, so that later changes by the caller are not signed. */
export interface AskedGrant {
  readonly agent: string;
  readonly capabilities: readonly JsonObject[];
  readonly audience: readonly string[] | null;
  /** Milliseconds since the epoch, in whole seconds; null if not given. */
  readonly validFromMs: number | null;
  /** As `validFromMs`. If null, the Grant ends `lifetimeSeconds` after its beginning. */
  readonly validUntilMs: number | null;
  readonly lifetimeSeconds: number;
}

/** @throws SvcError `invalid-argument`, which names the faulty member */
export function readGrantRequest(given: GrantRequest): AskedGrant {
  const { agent, capabilities, audience, ...times } = readArgument('grants.issue', given, REQUEST);
  const { validFrom, validUntil, lifetimeSeconds } = times;
  if (validUntil !== undefined && lifetimeSeconds !== undefined)
    throw invalid('give validUntil or lifetimeSeconds, not both');
  return {
    agent,
    capabilities: Array.from(capabilities, plainJson),
    audience: audience === undefined ? null : [...audience],
    validFromMs: validFrom === undefined ? null : toMs(validFrom, 'validFrom'),
    validUntilMs: validUntil === undefined ? null : toMs(validUntil, 'validUntil'),
    lifetimeSeconds: lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS,
  };
}

/**
 * The Grant that was requested. It begins at `presentMs` unless the request says when.
 * @throws SvcError `invalid-argument`, which names what is wrong
 */
export async function buildGrantDraft(
  { agent, capabilities, audience, validFromMs, validUntilMs, lifetimeSeconds }: AskedGrant,
  kid: string,
  presentMs: number,
): Promise<GrantDraft> {
  const fromMs = validFromMs ?? wholeSecond(presentMs);
  const draft: GrantDraft = {
    issuer: issuerOf(kid),
    agent: strictAgent(agent),
    validFrom: seconds(fromMs, 'validFrom'),
    validUntil: seconds(validUntilMs ?? fromMs + lifetimeSeconds * 1000, 'validUntil'),
    subject: {
      id: agent,
      ...(audience === null ? {} : { audience: [...audience] }),
      capabilities: [...capabilities],
    },
  };
  const sample = { id: `urn:svc:grant:${'0'.repeat(26)}`, credentialStatus: SAMPLE_STATUS };
  const unsigned: Signer = { kid, sign: () => new Uint8Array(64) };
  const parsed = parseGrant(await signGrant(draft, sample, unsigned));
  if (!parsed.ok) throw invalid(parsed.problem);
  if (parsed.budgetProblem !== null) throw invalid(parsed.budgetProblem);
  return draft;
}

/** The longest possible entry, so that the draft is at least as long as the Grant made from it. */
const SAMPLE_STATUS = /* @__PURE__ */ buildStatusEntry({
  credentialUrl: `https://status.example/${'x'.repeat(200)}`,
  index: 10 ** 12,
});

/** Rejects with the signer's error. */
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

/** The DID in a signer's `kid`, which precedes the fragment. */
export function issuerOf(kid: string): string {
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

function toMs(value: Date | string, name: string): number {
  if (typeof value !== 'string') return wholeSecond(value.getTime());
  const ms = parseAnyUtcTime(value);
  if (ms === null || ms !== wholeSecond(ms))
    throw invalid(
      `${name} must be a Date, or an RFC 3339 time in UTC of whole seconds such as 2026-11-20T08:00:00Z`,
    );
  return ms;
}

export const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

function seconds(ms: number, name: string): string {
  try {
    return formatSeconds(ms);
  } catch {
    throw invalid(`${name} must be a whole second between the years 0000 and 9999`);
  }
}

/** A Capability as JSON. This copy is checked and signed. */
function plainJson(capability: Capability): JsonObject {
  const copy = copyJson(capability);
  if (!isJsonObject(copy)) throw invalid('every Capability must be an object of JSON values');
  // In JSON the member would be absent, which allows every resource.
  if ('resources' in capability && !Object.hasOwn(copy, 'resources'))
    throw invalid('the resources of a Capability are given but undefined; leave them out to allow any');
  // In the same way, an absent budget sets no limit.
  for (const name in capability.constraints)
    if (!Object.hasOwn(Object(copy.constraints), name))
      throw invalid(
        `the constraint ${name} of a Capability is given but undefined; leave it out to set no such limit`,
      );
  return copy;
}

/** A JSON copy of the value; null if the value has no JSON form. */
export function copyJson(value: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return null;
  }
}

const invalid = (message: string): SvcError => new SvcError('invalid-argument', message);
