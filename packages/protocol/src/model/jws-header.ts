/**
 * The protected header of Grants and Proofs: exactly `alg`, `typ` and `kid` (protocol §1), and in a Grant also the
 * `cty` that VC-JOSE-COSE recommends. Any other member (`crit`, `b64`, `jwk`, `jku`, `x5c`, …) would change what a
 * signature means, so it is refused, never ignored.
 */
import type { JsonObject } from '@svc/codec';
import { type Findings, member, unknownMembers } from './members.ts';

export const MAX_KID_CHARS = 1024;

const MEMBERS = new Set(['alg', 'typ', 'kid']);

/** `EdDSA` is what this code writes; `Ed25519` (RFC 9864) is also accepted. */
const ALGORITHMS: ReadonlySet<string> = new Set(['EdDSA', 'Ed25519']);

/**
 * Checks the header and returns its `kid`; null if the `kid` is missing or has the wrong form. `cty`: the content type
 * that the header may name (RFC 7515 §4.1.10); it adds nothing to `typ`.
 */
export const parseProtectedHeader = (
  header: JsonObject,
  { typ, cty }: { readonly typ: string; readonly cty?: string },
  findings: Findings,
): string | null => {
  for (const name of unknownMembers(header, MEMBERS))
    if (name !== 'cty' || cty === undefined || member(header, 'cty') !== cty)
      findings.unsupported(`unknown header member "${name}"`);
  const alg = member(header, 'alg');
  if (typeof alg !== 'string') findings.malformed('header alg must be a string');
  else if (!ALGORITHMS.has(alg)) findings.unsupported(`header alg "${alg}" is not EdDSA`);
  if (member(header, 'typ') !== typ) findings.malformed(`header typ must be "${typ}"`);
  const kid = member(header, 'kid');
  if (typeof kid === 'string' && kid.length > 0 && kid.length <= MAX_KID_CHARS) return kid;
  findings.malformed(`header kid must be a string of 1 to ${MAX_KID_CHARS} characters`);
  return null;
};
