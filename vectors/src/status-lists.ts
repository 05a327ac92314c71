/** The signed status lists to which the vectors refer: the current one, and one with the Grant's bit set. */
import { encodeBase64url, encodeUtf8, type JsonObject, jcs, portableCrypto, sha256Of } from '@svc/protocol';
import { buildStatusListCredential, createBitstring, encodeBitstring, setBit } from '@svc/status-list';
import { KEYS, SERVICE_DID, STATUS_KID } from './test-keys.ts';

export interface SignedStatusList {
  readonly url: string;
  readonly validFrom: string;
  readonly revoked: readonly number[];
  readonly jws: string;
  /** SHA-256 of the bytes of the compact JWS. */
  readonly hash: string;
}

const URL = 'https://status.svc.example/acme.example/1';

const signedStatusList = (validFrom: string, revoked: readonly number[]): SignedStatusList => {
  const bits = createBitstring();
  for (const index of revoked) setBit(bits, index);
  const payload = buildStatusListCredential({
    id: URL,
    issuer: SERVICE_DID,
    validFrom,
    encodedList: encodeBitstring(bits),
  });
  const header = jcs({ alg: 'EdDSA', kid: STATUS_KID, typ: 'vc+jwt' });
  const body = jcs(payload as unknown as JsonObject);
  const signingInput = `${encodeBase64url(encodeUtf8(header))}.${encodeBase64url(encodeUtf8(body))}`;
  const jws = `${signingInput}.${encodeBase64url(KEYS.status.sign(encodeUtf8(signingInput)))}`;
  return { url: URL, validFrom, revoked, jws, hash: sha256Of(portableCrypto, jws) };
};

export const STATUS_LISTS = {
  current: signedStatusList('2026-11-20T09:59:30Z', [7, 131071]),
  revoking: signedStatusList('2026-11-20T09:59:45Z', [7, 94567, 131071]),
} as const;
