/** Verifies a status list credential against every key the service has signed with. */
import { parseCompactJws } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { parseStatusListCredential, type StatusListCredential } from '@svc/status-list';
import type { ServiceKeys } from './service-keys.ts';

const MAX_CHARS = 4_194_304;

/** The credential; or its fault, as a predicate ("is not …"). */
export const readOwnList = (
  keys: ServiceKeys,
  credential: string,
): StatusListCredential | { readonly problem: string } => {
  const jws = parseCompactJws(credential, MAX_CHARS);
  if (!jws.ok) return { problem: `is no JWS: ${jws.problem}` };
  const { kid, typ } = jws.header;
  const did = typeof kid === 'string' ? kid.replace(/#status-.*$/s, '') : '';
  const key = keys.dids.has(did) ? keys.byKid.get(String(kid)) : undefined;
  if (key === undefined || typ !== 'vc+jwt' || !nativeCrypto.verify(key, jws.signingInput, jws.signature))
    return { problem: 'is not signed by the service' };
  const list = parseStatusListCredential(jws.payload);
  if (list === null || list.issuer !== did) return { problem: 'is no status list of the service' };
  return list;
};
