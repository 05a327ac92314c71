/** What the verifier is given, checked at run time: at set-up, and before a Proof could be spent. */
import { type Action, isMethod, type JsonValue, normalizeHtu } from '@svc/protocol';
import {
  anInteger,
  anObjectWith,
  aText,
  checkValue,
  connectionRules,
  isDidWeb,
  isObject,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';
import type { VerifierOptions, VerifyInput } from './verifier.ts';

const aDid = rule('a did:web DID', isDidWeb);

const OPTIONS: Rules<VerifierOptions> = {
  ...connectionRules,
  serviceDid: optionally(aDid),
  didDocument: optionally(
    rule("the service's DID document, an object with an id", (value): value is object =>
      Boolean(isObject(value) && isText(value.id)),
    ),
  ),
  relyingParty: optionally(aDid),
  maxAttempts: optionally(anInteger(1, 100, 'attempts')),
  crypto: optionally(anObjectWith('a CryptoPort', [], ['sha256Hex', 'isStrictKey', 'verify'])),
};

/** @throws SvcError `configuration` */
export function readVerifierOptions(options: VerifierOptions): VerifierOptions {
  const read = readArgument('createVerifier', options, OPTIONS, 'configuration');
  if (read.serviceDid === undefined && read.didDocument === undefined) {
    throw new SvcError('configuration', 'pass serviceDid or didDocument: whose Receipts are to be believed?');
  }
  return read;
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
  const { grant, proof, action, request } = input;
  checkValue('grant', grant, aGrant);
  checkValue('proof', proof, aProof);
  checkValue('action', action, anAction);
  checkValue('request', request, aRequest);
  const { method, url } = request;
  checkValue('request.method', method, aMethod);
  checkValue('request.url', url, aUrl);
  return { grant, proof, action: copyJson(action), request: { method, url } };
}

function copyJson(action: Action): JsonValue {
  try {
    return JSON.parse(JSON.stringify(action) ?? 'null');
  } catch (cause) {
    throw new SvcError('invalid-argument', 'action must be an object of JSON values', { cause });
  }
}
