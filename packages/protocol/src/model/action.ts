/**
 * The Action: what the relying party says the Agent is about to do (interface §Action, protocol §5). Closed objects.
 * Nothing in an Action is proven before P14 has compared it with the signed Proof.
 */
import { isJsonObject, type JsonObject, type JsonValue, normalizeHtu } from '@svc/codec';
import { hasExactly, isNonNegativeInteger, member, memberFault } from './members.ts';
import { type Parsed, parsed, refused } from './parsed.ts';

/** Buying something (interface §Action). */
export interface PurchaseAction {
  readonly type: 'commerce:purchase';
  /** What is bought, in the relying party's own terms. */
  readonly resource: string;
  /** Minor units of `currency`. */
  readonly amount: number;
  /** ISO 4217. */
  readonly currency: string;
}

/** Calling an address with a method (interface §Action). */
export interface ApiCallAction {
  readonly type: 'api:call';
  readonly method: string;
  /** Absolute http or https URL. */
  readonly resource: string;
}

/** What an Agent is about to do, in the relying party's words (interface §Action). */
export type Action = PurchaseAction | ApiCallAction;
/** `commerce:purchase` or `api:call`. */
export type ActionType = Action['type'];

/** The longest string of an Action, in UTF-16 code units. */
export const MAX_ACTION_STRING_CHARS = 2048;

const CURRENCY = /^[A-Z]{3}$/;
const METHOD = /^[A-Z]{1,32}$/;
const API_RESOURCE = /^https?:\/\//;
const LONE_SURROGATE = /\p{Surrogate}/u;
const PURCHASE_MEMBERS = new Set(['type', 'resource', 'amount', 'currency']);
const API_CALL_MEMBERS = new Set(['type', 'method', 'resource']);

/** Whether a value has the form of an ISO 4217 code: three capital letters. */
export const isCurrency = (value: unknown): value is string =>
  typeof value === 'string' && CURRENCY.test(value);
/** Whether a value has the form of an HTTP method as Actions and Proofs name it: 1 to 32 capital letters. */
export const isMethod = (value: unknown): value is string => typeof value === 'string' && METHOD.test(value);
/** Whether a value is a type of Action. */
export const isActionType = (value: unknown): value is ActionType =>
  value === 'commerce:purchase' || value === 'api:call';

/** The RFC 8785 form of a parsed Action: its members in order, strings and integers as JSON.stringify writes them. */
export const canonicalAction = (action: Action): string => {
  if (action.type === 'api:call') {
    const { method, resource, type } = action;
    return JSON.stringify({ method, resource, type });
  }
  const { amount, currency, resource, type } = action;
  return JSON.stringify({ amount, currency, resource, type });
};

/**
 * Whether two parsed Actions have the same canonical form. Comparing members is enough: they are strings, or integers
 * with only one spelling.
 */
export const isSameAction = (action: Action, other: Action): boolean => {
  if (action.resource !== other.resource) return false;
  return action.type === 'api:call'
    ? other.type === 'api:call' && action.method === other.method
    : other.type === 'commerce:purchase' &&
        action.amount === other.amount &&
        action.currency === other.currency;
};

/** Whether a database and a canonical form can store this text: well-formed UTF-16 without U+0000. */
const isStorableText = (text: string): boolean => !text.includes('\u0000') && !LONE_SURROGATE.test(text);

/** Parses an Action from JSON. Returns a copy that keeps no reference to the input. */
export const parseAction = (value: unknown): Parsed<Action> => {
  if (!isJsonObject(value as JsonValue)) return refused('malformed', 'action must be a JSON object');
  const object = value as JsonObject;
  const type = member(object, 'type');
  if (type === 'commerce:purchase') return parsePurchase(object);
  if (type === 'api:call') return parseApiCall(object);
  return refused('malformed', 'action.type must be "commerce:purchase" or "api:call"');
};

const parseResource = (object: JsonObject): Parsed<string> => {
  const resource = member(object, 'resource');
  if (typeof resource !== 'string' || resource.length === 0)
    return refused('malformed', 'action.resource must be a non-empty string');
  if (resource.length > MAX_ACTION_STRING_CHARS)
    return refused('malformed', `action.resource must have at most ${MAX_ACTION_STRING_CHARS} characters`);
  if (!isStorableText(resource))
    return refused('malformed', 'action.resource must not hold U+0000 or a lone surrogate');
  return parsed(resource);
};

const parsePurchase = (object: JsonObject): Parsed<PurchaseAction> => {
  if (!hasExactly(object, PURCHASE_MEMBERS))
    return refused(
      'malformed',
      `a commerce:purchase must have exactly type, resource, amount and currency; ${memberFault(object, PURCHASE_MEMBERS)}`,
    );
  const resource = parseResource(object);
  if (!resource.ok) return resource;
  const { amount, currency } = object;
  if (!isNonNegativeInteger(amount))
    return refused('malformed', 'action.amount must be an integer of minor units, 0 to 2^53-1');
  if (!isCurrency(currency))
    return refused('malformed', 'action.currency must be three upper-case letters (ISO 4217)');
  return parsed({ type: 'commerce:purchase', resource: resource.value, amount, currency });
};

const parseApiCall = (object: JsonObject): Parsed<ApiCallAction> => {
  if (!hasExactly(object, API_CALL_MEMBERS))
    return refused(
      'malformed',
      `an api:call must have exactly type, method and resource; ${memberFault(object, API_CALL_MEMBERS)}`,
    );
  const resource = parseResource(object);
  if (!resource.ok) return resource;
  const { method } = object;
  if (!isMethod(method)) return refused('malformed', 'action.method must be 1 to 32 upper-case letters');
  if (!API_RESOURCE.test(resource.value) || normalizeHtu(resource.value) === null)
    return refused('malformed', 'action.resource must be an absolute http or https URL');
  return parsed({ type: 'api:call', method, resource: resource.value });
};
