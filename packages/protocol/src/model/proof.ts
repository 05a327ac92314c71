/**
 * The Proof: the Agent's signature over one request, made for one relying party (protocol §3). Closed shape. Parsing
 * proves form only; nothing here is authenticated before P9.
 */
import {
  type DidKey,
  type DidWeb,
  normalizeHtu,
  type ParsedJws,
  parseCompactJws,
  parseDidKey,
  parseDidWeb,
} from '@svc/codec';
import { isJti } from '../model/jti.ts';
import { type Action, isMethod, parseAction } from './action.ts';
import { type GrantId, isGrantId } from './ids.ts';
import { parseProtectedHeader } from './jws-header.ts';
import { Findings, hasExactly, memberFault } from './members.ts';
import { type Parsed, parsed, refused } from './parsed.ts';

/** The `typ` of a Proof's protected header. */
export const PROOF_TYP = 'svc-proof+jwt';
/** The maximum length of a Proof that is parsed, in characters. */
export const PROOF_MAX_CHARS = 8192;

/** A Proof that is well formed (interface §Proof, protocol §3). Its signature has not been verified. */
export interface Proof {
  readonly agent: DidKey;
  readonly publicKey: Uint8Array;
  readonly audience: DidWeb;
  readonly grantId: GrantId;
  readonly htm: string;
  /** `htu` after `normalizeHtu`. */
  readonly normalizedHtu: string;
  /** The Action as signed. */
  readonly action: Action;
  readonly iatSeconds: number;
  readonly jti: string;
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

const MEMBERS = new Set(['iss', 'aud', 'grant_id', 'htm', 'htu', 'action', 'iat', 'jti']);

/** Parses the Proof as received. Every fault has the same reason, `PROOF_MALFORMED`. */
export const parseProof = (text: string): Parsed<Proof, 'PROOF_MALFORMED'> => {
  const jws = parseCompactJws(text, PROOF_MAX_CHARS);
  if (!jws.ok) return refused('PROOF_MALFORMED', jws.problem);
  const findings = new Findings();
  const kid = parseProtectedHeader(jws.header, { typ: PROOF_TYP }, findings);
  const worst = findings.worst;
  if (worst !== null) return refused('PROOF_MALFORMED', worst.problem);
  return parseClaims(jws, kid ?? '');
};

const parseClaims = (
  { payload, signingInput, signature }: ParsedJws,
  kid: string,
): Parsed<Proof, 'PROOF_MALFORMED'> => {
  const malformed = (problem: string) => refused('PROOF_MALFORMED', problem);
  if (!hasExactly(payload, MEMBERS))
    return malformed(
      `a Proof must have exactly the members ${[...MEMBERS].join(', ')}; ${memberFault(payload, MEMBERS)}`,
    );
  const { iss, aud, grant_id: grantId, htm, htu, iat, jti } = payload;
  const agent = typeof iss === 'string' ? parseDidKey(iss) : null;
  if (agent === null) return malformed('iss must be an Ed25519 did:key');
  if (kid !== `${agent.did}#${agent.did.slice('did:key:'.length)}`)
    return malformed('kid must be the did:key of iss, "#" and its multibase value');
  const audience = typeof aud === 'string' ? parseDidWeb(aud) : null;
  if (audience === null) return malformed('aud must be one did:web DID');
  if (!isGrantId(grantId)) return malformed('grant_id must be urn:svc:grant: and a ULID');
  if (!isMethod(htm)) return malformed('htm must be 1 to 32 upper-case letters');
  const normalizedHtu = typeof htu === 'string' ? normalizeHtu(htu) : null;
  if (normalizedHtu === null) return malformed('htu must be an absolute http or https URL');
  const action = parseAction(payload.action);
  if (!action.ok) return malformed(action.problem);
  if (typeof iat !== 'number') return malformed('iat must be an integer of seconds');
  if (typeof jti !== 'string' || !isJti(jti)) return malformed('jti must be 22 to 64 base64url characters');
  return parsed({
    agent: agent.did,
    publicKey: agent.publicKey,
    audience: audience.did,
    grantId,
    htm,
    normalizedHtu,
    action: action.value,
    iatSeconds: iat,
    jti,
    signingInput,
    signature,
  });
};
