/**
 * Checks whether a hosted Principal controls its domain (protocol §13). Either of two places suffices:
 * - a TXT record `svc-verification=<token>` at `_svc-challenge.<host>`;
 * - `/.well-known/svc-verification.json` with exactly `{did, token}`, or with a list of such objects, because several
 *   DIDs can share a host.
 *
 * A proof in the document names the whole DID, so on a shared host nobody can prove the path of another.
 */
import {
  type DidWeb,
  decodeUtf8,
  isJsonObject,
  type ParsedDidWeb,
  parseDidWeb,
  parseStrictJson,
} from '@svc/protocol';
import type { OutboundAnswer, TxtAnswer } from './answers.ts';
import { isServerFailure } from './did-web.ts';
import type { Outbound } from './outbound.ts';

/**
 * `absent`: both places positively contain no proof. `unknown`: no proof was found, and one place could not be queried.
 */
export type DomainProof = 'proven' | 'absent' | 'unknown';

export interface DomainClaim {
  readonly did: DidWeb;
  /** The domain as the DID contains it. */
  readonly domain: string;
  readonly token: string;
}

/** Throws RangeError if `domain` is not that of the DID. */
export const checkDomainProof = async (outbound: Outbound, claim: DomainClaim): Promise<DomainProof> => {
  const parsed = parseDidWeb(claim.did);
  if (parsed === null || claim.did.split(':')[2] !== claim.domain || claim.token === '')
    throw new RangeError('a domain claim is a did:web DID, its own domain and a token');
  const [txt, wellKnown] = await Promise.all([
    outbound.resolveTxt(`_svc-challenge.${parsed.host}`),
    outbound.get(wellKnownUrl(parsed)),
  ]);
  const places = [judgeTxt(txt, claim.token), judgeWellKnown(wellKnown, claim)];
  if (places.includes('proven')) return 'proven';
  return places.includes('unknown') ? 'unknown' : 'absent';
};

const wellKnownUrl = ({ host, port }: ParsedDidWeb): string =>
  `https://${host}${port === null ? '' : `:${port}`}/.well-known/svc-verification.json`;

const judgeTxt = (answer: TxtAnswer, token: string): DomainProof => {
  if (answer.kind === 'absent') return 'absent';
  if (answer.kind !== 'records') return 'unknown';
  return answer.records.includes(`svc-verification=${token}`) ? 'proven' : 'absent';
};

const judgeWellKnown = (answer: OutboundAnswer, claim: DomainClaim): DomainProof => {
  if (answer.kind === 'refused') return 'unknown';
  // A name without an address has no well-known document, and a document that is too large is not the expected one.
  if (answer.kind === 'unreachable')
    return answer.fault === 'no-address' || answer.fault === 'too-large' ? 'absent' : 'unknown';
  if (answer.status !== 200) return isServerFailure(answer.status) ? 'unknown' : 'absent';
  return isProofDocument(answer.body, claim) ? 'proven' : 'absent';
};

const isProofDocument = (body: Uint8Array, { did, token }: DomainClaim): boolean => {
  const text = decodeUtf8(body);
  const json = text === null ? null : parseStrictJson(text);
  if (json === null || !json.ok) return false;
  const proofs = Array.isArray(json.value) ? json.value : [json.value];
  return proofs.filter(isJsonObject).some((proof) => {
    // There are exactly two own members, so both must be these, and no inherited `did` or `token` is used.
    const isExact = Object.keys(proof).sort().join() === 'did,token';
    return isExact && proof.did === did && proof.token === token;
  });
};
