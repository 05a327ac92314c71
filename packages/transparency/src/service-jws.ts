/** The form of every statement of the service: a compact JWS with exactly one form of header (protocol §12). */
import { encodeBase64urlText, type JsonObject, jcs, member, parseCompactJws, show } from '@svc/codec';

/** A parsed statement of the service. Nothing in it has been verified. */
export interface ServiceJws {
  readonly ok: true;
  readonly header: JsonObject;
  /** Null if the header is not exactly `{"alg":"EdDSA","kid":"…","typ":"…"}` in RFC 8785 form. */
  readonly kid: string | null;
  readonly payload: JsonObject;
  /** Whether the payload is in RFC 8785 form. */
  readonly isPayloadCanonical: boolean;
  /** Exactly what was signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/**
 * Parses a compact JWS that the service signs under the header `alg` EdDSA, `kid` and this `typ`. `problem`: why it is
 * not a compact JWS, as a phrase. Never throws, whatever type the argument has.
 */
export const readServiceJws = (
  text: string,
  typ: string,
  maxChars: number,
): ServiceJws | { readonly ok: false; readonly problem: string } => {
  if (typeof text !== 'string') return { ok: false, problem: `it is ${show(text)}` };
  const jws = parseCompactJws(text, maxChars);
  if (!jws.ok) return jws;
  const kid = member(jws.header, 'kid');
  const [headerPart, payloadPart] = jws.signingInput.split('.');
  const isExact = typeof kid === 'string' && canonicalPart({ alg: 'EdDSA', kid, typ }) === headerPart;
  return {
    ...jws,
    kid: isExact ? kid : null,
    isPayloadCanonical: canonicalPart(jws.payload) === payloadPart,
  };
};

const canonicalPart = (value: JsonObject): string => encodeBase64urlText(jcs(value));
