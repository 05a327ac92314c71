/**
 * Approval of one Action that was denied (protocol §16): builds the Capability that a Principal is asked to sign for
 * the Action, and checks that a Grant gives exactly that and nothing wider.
 */
import { type DidKey, type DidWeb, type JsonObject, jcs, normalizeHtu } from '@svc/codec';
import { type CheckId, checksOf } from './checks/table.ts';
import type { Action } from './model/action.ts';
import type { Capability } from './model/capability.ts';
import type { Grant } from './model/grant.ts';
import { type CheckOutcome, isProfileId } from './profiles/index.ts';
import { isResourcePattern, resourceMatcher, urlMatcher } from './resources/resource-pattern.ts';
import { UNSEEN } from './unseen.ts';

/** The longest validity of a Grant that approves one Action, in milliseconds: 15 minutes. */
export const APPROVAL_MAX_VALIDITY_MS = 15 * 60_000;

/** What a Grant for one Action must give, to which Agent and for which relying party. */
export interface ApprovalAsked {
  readonly agent: DidKey;
  readonly relyingParty: DidWeb;
  readonly capability: Capability;
}

/**
 * The Capability for this Action alone, once: its resource by name, its amount as the ceiling, one use.
 *
 * Null where no pattern matches the resource and nothing else: the resource contains an asterisk, is longer than a
 * pattern may be, or (`api:call`) is not a URL in normal form. A URL with a query is not in normal form: patterns have
 * no query, and a Grant for the path would allow every query.
 *
 * For an `api:call`, the Capability names method and URL only: it allows any query and body that the Agent chooses.
 */
export const capabilityForOnce = (action: Action): Capability | null => {
  const name = action.resource;
  if (action.type === 'api:call' && normalizeHtu(name) !== name) return null;
  if (name.includes('*') || !isResourcePattern(name)) return null;
  const matches = action.type === 'api:call' ? urlMatcher(name) : resourceMatcher(name);
  if (!matches(name)) return null;
  const constraints: JsonObject =
    action.type === 'api:call'
      ? { methods: [action.method], maxUses: 1 }
      : { maxAmount: action.amount, currency: action.currency, maxUses: 1 };
  return { action: action.type, constraints, resources: [name] };
};

/**
 * Characters that change how their neighbours are read: adjacent spaces, a space at either end, marks that strike
 * through or enclose the preceding character, and four or more marks in a row, which cover the text around them.
 */
const MISLEADING = /\p{Me}|[\u0334-\u0338]| {2}|^ | $|\p{M}{4}/u;

/**
 * Whether a person sees all of this text where it is displayed from left to right. That takes `<bdo dir="ltr">`:
 * letters of some scripts reverse the order of digits and slashes beside them. Does not detect letters that look alike.
 */
export const isReadable = (text: string): boolean => !UNSEEN.test(text) && !MISLEADING.test(text);

/** Why the Grant is not exactly what was asked for; null if it is. Does not check its signature. */
export const findApprovalFault = (grant: Grant, asked: ApprovalAsked): string | null => {
  const { agent, relyingParty, capability } = asked;
  if (grant.agent !== agent) return `must be for the Agent ${agent}, and is for ${grant.agent}`;
  if (grant.audience?.length !== 1 || grant.audience[0] !== relyingParty)
    return `must have exactly this audience: ${relyingParty}`;
  const [only, ...others] = grant.capabilities;
  const wanted = textOf(capability);
  if (only === undefined || others.length > 0 || textOf(only) !== wanted)
    return `must have exactly one Capability, ${wanted}`;
  if (grant.validUntilMs - grant.validFromMs > APPROVAL_MAX_VALIDITY_MS)
    return `must be valid for at most ${APPROVAL_MAX_VALIDITY_MS / 60_000} minutes`;
  return null;
};

const textOf = ({ action, constraints, resources }: Capability): string =>
  jcs({ action, constraints, ...(resources !== undefined && { resources: [...resources] }) });

/** Outcomes of the checks of a decision. */
export type ApprovalOutcomes = Readonly<Partial<Record<CheckId, CheckOutcome>>>;

/**
 * The checks of what a Capability allows. Only these can an approval change, which is another Grant of the same
 * Principal to the same Agent. A check that is not named here cannot be approved.
 */
const APPROVABLE: ReadonlySet<CheckId> = /* @__PURE__ */ new Set(['P16', 'P17', 'P18', 'P19', 'P20']);

/**
 * Why a denial under this profile with these outcomes cannot be approved; null if it can. T5 is `skipped` in every
 * denial except that of a spent Proof. An outcome that is missing is one that does not hold.
 */
export const findUnapprovable = (outcomes: ApprovalOutcomes, profile: string): string | null => {
  if (!isProfileId(profile)) return `This version does not know ${profile}.`;
  const ids = checksOf(profile).map(({ id }) => id);
  const wrong = ids.find((id) => !APPROVABLE.has(id) && outcomes[id] !== (id === 'T5' ? 'skipped' : true));
  if (wrong !== undefined)
    return `The decision failed at ${wrong}${outcomes[wrong] === false ? '' : ', which could not be decided'}.`;
  return [...APPROVABLE].some((id) => outcomes[id] === false)
    ? null
    : 'None of P16 to P20 is false in the decision.';
};
