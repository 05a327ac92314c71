/**
 * Signs a Proof (protocol §3): one Grant, one relying party, one HTTP request, one Action, one use. A Proof with a
 * wrong form, or one that does not match its own request, is refused here as the service would refuse it.
 */
import { normalizeHtu, parseDidWeb, signCompactJws } from '@svc/codec';
import { type Action, isGrantId, isJti, isMethod, PROOF_TYP, parseAction, parseProof } from '@svc/protocol';
import { aFunction, aText, optionally, type Rules, readArgument, rule } from '@svc/sdk-core/arguments';
import { SvcError } from '@svc/sdk-core/errors';
import { randomToken } from '@svc/sdk-core/random';
import { type Agent, anAgent } from './agent-key.ts';

/** What a Proof covers: one HTTP request, under one Grant, to one relying party. */
export interface ProofRequest {
  agent: Agent;
  grantId: string;
  /** DID of the one relying party that may verify this Proof. */
  audience: string;
  /** Method of the HTTP request that will carry the Proof. */
  method: string;
  /** Absolute URL, with the query, as it will be sent. */
  url: string;
  /** What the request does, in the relying party's terms; amounts in minor units. */
  action: Action;
  /** Milliseconds since the epoch; this computer's clock unless given. */
  now?: () => number;
  /** 22–64 base64url characters, never used before; random unless given. */
  jti?: string;
}

export const anAudience = rule(
  'the did:web DID of the relying party',
  (value): value is string => typeof value === 'string' && parseDidWeb(value) !== null,
);

const REQUEST: Rules<ProofRequest> = {
  agent: anAgent,
  grantId: rule("the Grant's id: urn:svc:grant: and 26 characters", isGrantId),
  audience: anAudience,
  method: rule('the HTTP method, 1 to 32 upper-case letters, such as "POST"', isMethod),
  url: aText('the absolute URL of the request as a string'),
  action: rule('an Action object', (value): value is Action => typeof value === 'object' && value !== null),
  now: optionally(aFunction()),
  jti: optionally(aText('22 to 64 base64url characters')),
};

/**
 * Signs a Proof (protocol §3) as a compact JWS, for the header `Svc-Proof` of this one request. It is valid for one
 * use, within the relying party's Proof window (60 s by default).
 * @example
 * const proof = await signProof({ agent, grantId, audience: 'did:web:shop.example', method: 'POST', url, action });
 * @throws SvcError `invalid-argument`; rejects with the signer's errors.
 */
export async function signProof(request: ProofRequest): Promise<string> {
  const read = readArgument('signProof', request, REQUEST);
  const { agent, now = Date.now, jti = randomToken(': pass jti') } = read;
  const action = parseAction(read.action);
  if (!action.ok) throw invalid(action.problem);
  const htu = normalizeHtu(read.url);
  if (htu === null) throw invalid('url must be an absolute http(s) URL without user info');
  if (!isJti(jti)) throw invalid('jti must be 22 to 64 base64url characters');
  const iat = Math.floor(now() / 1000);
  if (!Number.isSafeInteger(iat)) throw invalid('now must give milliseconds since the epoch');
  checkApiCall(action.value, read.method, htu);
  const proof = await signCompactJws(
    agent,
    { typ: PROOF_TYP },
    {
      iss: agent.did,
      aud: read.audience,
      grant_id: read.grantId,
      htm: read.method,
      htu,
      action: { ...action.value },
      iat,
      jti,
    },
  );
  const parsed = parseProof(proof);
  if (!parsed.ok) throw invalid(parsed.problem);
  return proof;
}

/** The Action of an `api:call` is the request itself, so the two must agree (protocol §7, P14). */
function checkApiCall(action: Action, method: string, htu: string): void {
  if (action.type !== 'api:call') return;
  if (action.method !== method)
    throw invalid(`the action's method ${action.method} is not the request's ${method}`);
  if (normalizeHtu(action.resource) !== htu) throw invalid("the action's resource is not the request's URL");
}

const invalid = (message: string): SvcError => new SvcError('invalid-argument', message);
