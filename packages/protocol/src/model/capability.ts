/**
 * A Capability: one kind of action that a Grant allows, within constraints (interface §Capability, protocol §2).
 * Unknown constraint keys are kept unchanged, because P17 decides about them.
 */

import {
  type CryptoPort,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Sha256,
  sha256Of,
} from '@svc/codec';
import { findBudgetProblem } from '../budgets/budget.ts';
import { isResourcePattern } from '../resources/resource-pattern.ts';
import { type ActionType, isActionType, isCurrency, isMethod } from './action.ts';
import {
  type Findings,
  hasDuplicates,
  isNonNegativeInteger,
  isStringArray,
  member,
  unknownMembers,
} from './members.ts';

/**
 * What a Grant allows: Actions of one type, within constraints, on some resources or all (interface §Capability).
 */
export interface Capability {
  readonly action: ActionType;
  /**
   * Required keys have the right type. Budget keys have it once P1 has passed under a profile with budgets. Other keys
   * are as the Principal signed them.
   */
  readonly constraints: JsonObject;
  /** Absent means every resource. */
  readonly resources?: readonly string[];
}

/** The maximum number of resource patterns of one Capability. */
export const MAX_RESOURCES = 64;
/** The maximum number of methods of one `api:call` Capability. */
export const MAX_METHODS = 16;

const MEMBERS = new Set(['action', 'constraints', 'resources']);

/**
 * The Capability with its members in RFC 8785 order, so that `JSON.stringify` of it is its canonical form. Only for
 * Capabilities that passed P17, whose constraints contain no objects.
 */
export const inCanonicalOrder = ({ action, constraints, resources }: Capability): Capability => {
  const keys = Object.keys(constraints).sort();
  const inOrder = Object.fromEntries(keys.map((key) => [key, constraints[key] ?? null]));
  return { action, constraints: inOrder, ...(resources === undefined ? {} : { resources }) };
};

/** Key of a budget: SHA-256 of the RFC 8785 form of the Capability. Only for Capabilities that passed P17. */
export const capabilityKeyOf = (crypto: CryptoPort, capability: Capability): Sha256 =>
  sha256Of(crypto, JSON.stringify(inCanonicalOrder(capability)));

/** Parses one Capability. Adds every fault to `findings`, and returns null if there is any. */
export const parseCapability = (value: JsonValue, at: string, findings: Findings): Capability | null => {
  if (!isJsonObject(value)) {
    findings.malformed(`${at} must be an object`);
    return null;
  }
  for (const name of unknownMembers(value, MEMBERS))
    findings.unsupported(`${at} has an unknown member "${name}"`);
  const constraints = member(value, 'constraints');
  if (!isJsonObject(constraints)) findings.malformed(`${at}.constraints must be an object`);
  const resources = parseResources(member(value, 'resources'), `${at}.resources`, findings);
  const action = member(value, 'action');
  if (typeof action !== 'string' || action.length === 0) {
    findings.malformed(`${at}.action must be a string`);
    return null;
  }
  if (!isActionType(action)) {
    findings.unsupported(`${at}.action "${action}" is not of this profile`);
    return null;
  }
  if (!isJsonObject(constraints)) return null;
  checkConstraints(action, constraints, `${at}.constraints`, findings);
  const budgetProblem = findBudgetProblem(action, constraints);
  if (budgetProblem !== null) findings.malformedBudget(`${at}.constraints: ${budgetProblem}`);
  return { action, constraints, ...(resources === undefined ? {} : { resources }) };
};

const parseResources = (
  value: JsonValue | undefined,
  at: string,
  findings: Findings,
): readonly string[] | undefined => {
  if (value === undefined) return undefined;
  if (!isStringArray(value) || value.length === 0 || value.length > MAX_RESOURCES) {
    findings.malformed(`${at} must be an array of 1 to ${MAX_RESOURCES} strings`);
    return undefined;
  }
  if (!value.every(isResourcePattern))
    findings.malformed(`${at} must hold patterns of 1 to 512 characters with at most 8 runs of "*" each`);
  return value;
};

const checkConstraints = (
  action: ActionType,
  constraints: JsonObject,
  at: string,
  findings: Findings,
): void => {
  if (action === 'commerce:purchase') {
    if (!isNonNegativeInteger(member(constraints, 'maxAmount')))
      findings.malformed(`${at}.maxAmount must be an integer of minor units, 0 to 2^53-1`);
    if (!isCurrency(member(constraints, 'currency')))
      findings.malformed(`${at}.currency must be three upper-case letters (ISO 4217)`);
    return;
  }
  const methods = member(constraints, 'methods');
  const wellFormed =
    isStringArray(methods) &&
    methods.length >= 1 &&
    methods.length <= MAX_METHODS &&
    methods.every(isMethod) &&
    !hasDuplicates(methods);
  if (!wellFormed)
    findings.malformed(`${at}.methods must be 1 to ${MAX_METHODS} distinct upper-case HTTP methods`);
};
