/**
 * Writing a Grant (protocol §2). A draft goes through the parser that the service will use, so whatever the service
 * would refuse for its form is refused here, with a sentence, before an id is reserved for it.
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

/** A Grant to be issued. Times are RFC 3339, or a `Date`. */
export interface GrantRequest {
  /** The Agent's did:key. */
  agent: string;
  /** 1–16; see `purchase` and `apiCall`. */
  capabilities: readonly Capability[];
  /**
   * Whole seconds. Unless given a second before the service allocated the Grant, by its clock, or up to a second after
   * it where `validUntil` is 90 days away; the clock here may differ by five minutes.
   */
  validFrom?: Date | string;
  /**
   * At most 90 days after `validFrom`, or after now where that is not given: by so much as the clock here is ahead the Grant then
   * ends earlier. 30 days unless this or `lifetimeSeconds` is given.
   */
  validUntil?: Date | string;
  /** Instead of `validUntil`: whole seconds from `validFrom`. */
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

/** A request as it was when the call was made: a copy, so that what its caller does to it later is not signed. */
export interface AskedGrant {
  readonly agent: string;
  readonly capabilities: readonly JsonObject[];
  readonly audience: readonly string[] | null;
  /** Milliseconds since the epoch, whole seconds; null where it is not given. */
  readonly validFromMs: number | null;
  /** As `validFromMs`; null: `lifetimeSeconds` after the beginning. */
  readonly validUntilMs: number | null;
  readonly lifetimeSeconds: number;
}

/** @throws SvcError `invalid-argument` naming what is wrong with a member of it. */
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
 * The Grant that was asked for; it begins at `presentMs` where the request does not say when.
 * @throws SvcError `invalid-argument` naming what is wrong.
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

/** The DID before the fragment of a signer's `kid`. */
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

/** A Capability as JSON: what is checked and signed is this copy. */
function plainJson(capability: Capability): JsonObject {
  const copy = copyJson(capability);
  if (!isJsonObject(copy)) throw invalid('every Capability must be an object of JSON values');
  // As JSON it would be absent, and absent allows every resource.
  if ('resources' in capability && !Object.hasOwn(copy, 'resources'))
    throw invalid('the resources of a Capability are given but undefined; leave them out to allow any');
  // Likewise an absent budget sets no limit.
  for (const name in capability.constraints)
    if (!Object.hasOwn(Object(copy.constraints), name))
      throw invalid(
        `the constraint ${name} of a Capability is given but undefined; leave it out to set no such limit`,
      );
  return copy;
}

/** A copy of what is JSON; null of anything else. */
export function copyJson(value: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return null;
  }
}

const invalid = (message: string): SvcError => new SvcError('invalid-argument', message);
