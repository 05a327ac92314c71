/** What a verification is asked with, checked before a Proof could be spent. */
import { type JsonValue, normalizeHtu } from '@svc/codec';
import { type Action, isMethod } from '@svc/protocol';
import { aText, checkValue, isObject, isText, rule, SvcError } from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

/** What is asked: what the Agent presented, what it would do, and the request that it came with. */
export interface VerifyInput {
  /** `Svc-Grant` and `Svc-Proof` as received. */
  grant: string;
  proof: string;
  /** What this relying party is about to do, in its own words. Never take it from the Proof. */
  action: Action;
  /** The HTTP request really received. */
  request: ReceivedRequest;
}

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

export interface CheckedInput {
  grant: string;
  proof: string;
  action: JsonValue;
  request: ReceivedRequest;
}

/**
 * One copy, which is sent and hashed whatever becomes of the caller's objects meanwhile.
 * @throws SvcError `invalid-argument`
 */
export function readVerifyInput(input: VerifyInput): CheckedInput {
  checkValue('the argument of verify', input, rule('{ grant, proof, action, request }', isObject));
  const presented = readPresented(input);
  const { request } = input;
  checkValue('request', request, aRequest);
  const { method, url } = request;
  checkValue('request.method', method, aMethod);
  checkValue('request.url', url, aUrl);
  return { ...presented, request: { method, url } };
}

/**
 * What the service evaluates, copied.
 * @throws SvcError `invalid-argument`
 */
export function readPresented({
  grant,
  proof,
  action,
}: Omit<VerifyInput, 'request'>): Omit<CheckedInput, 'request'> {
  checkValue('grant', grant, aGrant);
  checkValue('proof', proof, aProof);
  checkValue('action', action, anAction);
  return { grant, proof, action: copyJson(action) };
}

function copyJson(action: Action): JsonValue {
  try {
    return JSON.parse(JSON.stringify(action) ?? 'null');
  } catch (cause) {
    throw new SvcError('invalid-argument', 'action must be an object of JSON values', { cause });
  }
}
