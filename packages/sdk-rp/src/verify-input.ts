/** The input of a verification, checked before a Proof could be spent. */
import { type JsonValue, normalizeHtu } from '@svc/codec';
import { type Action, isMethod } from '@svc/protocol';
import {
  aText,
  checkValue,
  isObject,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

/** What the Agent presented, what it would do, and the request that carried it. */
export interface VerifyInput {
  /** `Svc-Grant` and `Svc-Proof` as received. */
  grant: string;
  proof: string;
  /** What this relying party is about to do, in its own terms. Never take it from the Proof. */
  action: Action;
  /** The HTTP request that was really received. */
  request: ReceivedRequest;
}

/**
 * The input of a dry run: as for a verification. `request` may be left out, because no Receipt is bound to it. If it is
 * given, a Proof for another request is refused as by `verify`.
 */
export type DryRunInput = Omit<VerifyInput, 'request'> & Partial<Pick<VerifyInput, 'request'>>;

const aGrant = aText('Svc-Grant as received: a string');
const aProof = aText('Svc-Proof as received: a string');
const anAction = rule('an Action object', (value): value is Action => isObject(value));
const aRequest = rule('the HTTP request received: { method, url }', (value): value is ReceivedRequest =>
  isObject(value),
);
const aMethod = rule('an HTTP method in upper-case letters, such as "POST"', isMethod);
const aUrl = rule(
  'the absolute URL of the request as the Agent addressed it, https://…',
  (value): value is string => isText(value) && normalizeHtu(value) !== null,
);

const DRY_RUN: Rules<DryRunInput> = {
  grant: aGrant,
  proof: aProof,
  action: anAction,
  request: optionally(aRequest),
};

export interface CheckedInput {
  grant: string;
  proof: string;
  action: JsonValue;
  request: ReceivedRequest;
}

/**
 * One copy, which is sent and hashed, so that later changes to the caller's objects have no effect.
 * @throws SvcError `invalid-argument`
 */
export function readVerifyInput(input: VerifyInput): CheckedInput {
  checkValue('the argument of verify', input, rule('{ grant, proof, action, request }', isObject));
  return { ...readPresented(input), request: readRequest(input.request) };
}

/**
 * The same for a dry run. Refuses unknown members, because a misspelt `request` would pass for an absent one.
 * @throws SvcError `invalid-argument`
 */
export function readDryRunInput(input: DryRunInput): Partial<CheckedInput> & Presented {
  const { request, ...presented } = readArgument<DryRunInput>('dryRun', input, DRY_RUN);
  return { ...readPresented(presented), ...(request !== undefined && { request: readRequest(request) }) };
}

type Presented = Omit<CheckedInput, 'request'>;

/** A copy of the members that the service evaluates. */
function readPresented({ grant, proof, action }: Omit<VerifyInput, 'request'>): Presented {
  checkValue('grant', grant, aGrant);
  checkValue('proof', proof, aProof);
  checkValue('action', action, anAction);
  return { grant, proof, action: copyJson(action) };
}

function readRequest(request: unknown): ReceivedRequest {
  checkValue('request', request, aRequest);
  const { method, url } = request;
  checkValue('request.method', method, aMethod);
  checkValue('request.url', url, aUrl);
  return { method, url };
}

function copyJson(action: Action): JsonValue {
  try {
    return JSON.parse(JSON.stringify(action) ?? 'null');
  } catch (cause) {
    throw new SvcError('invalid-argument', 'action must be an object of JSON values', { cause });
  }
}
