/**
 * Reads the service's own status list credentials back. A credential that no published status key has signed is
 * refused.
 */
import { parseCompactJws } from '@svc/protocol';
import { decodeBitstring, parseStatusListCredential } from '@svc/status-list';
import { findUntimely } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import type { PublishedIdentity } from '../service-keys/service-identity.ts';

export interface OwnCredential {
  readonly kid: string;
  readonly bits: Uint8Array;
  /** Whole seconds, as signed. */
  readonly validFrom: string;
  readonly validUntil: string | null;
}

const MAX_CREDENTIAL_CHARS = 262_144;

/**
 * The credential of the list at `url`, with its signature checked, or what is wrong with it. It is valid if its key was
 * in force when the credential was signed and is not compromised. With `atAnyTime`, which signing it anew needs, any
 * published key is accepted.
 */
export const readOwnCredential = (
  { identity, crypto }: Pick<ServiceDeps, 'crypto'> & { readonly identity: PublishedIdentity },
  url: string,
  text: string,
  { atAnyTime = false } = {},
): OwnCredential | { readonly problem: string } => {
  const jws = parseCompactJws(text, MAX_CREDENTIAL_CHARS);
  if (!jws.ok) return jws;
  const key = identity.statusKeys.published.find(({ kid }) => kid === jws.header.kid);
  if (key === undefined || jws.header.typ !== 'vc+jwt') return { problem: 'not signed by a status key' };
  if (!crypto.verify(key.publicKey, jws.signingInput, jws.signature))
    return { problem: 'signature does not verify' };
  const credential = parseStatusListCredential(jws.payload);
  if (credential === null || credential.id !== url || credential.issuer !== identity.did)
    return { problem: 'not the credential of this list' };
  const bits = decodeBitstring(credential.credentialSubject.encodedList);
  if (bits === null) return { problem: 'bits do not decode' };
  const { validFrom, validUntil = null } = credential;
  const untimely = atAnyTime ? null : findUntimely(key.time, Date.parse(validFrom));
  if (untimely !== null) return { problem: `its key ${key.kid} ${untimely}` };
  return { kid: key.kid, bits, validFrom, validUntil };
};
