/** What signer and verifier of HTTP Message Signatures share (RFC 9421; draft-ietf-webbotauth-httpsig-protocol). */
import { encodeBase64url, portableCrypto } from '@svc/codec';

/** The `tag` of a request that an Agent signed. */
export const REQUEST_TAG = 'web-bot-auth';

/** An Ed25519 key as a JWK (RFC 8037 §2), its members in the order in which RFC 7638 §3.2 hashes them. */
export const publicJwk = (publicKey: Uint8Array) =>
  ({ crv: 'Ed25519', kty: 'OKP', x: encodeBase64url(publicKey) }) as const;

/** SHA-256 of UTF-8 text. */
export const sha256Bytes = (text: string): Uint8Array =>
  Uint8Array.from(portableCrypto.sha256Hex(text).match(/../g) ?? [], (hex) => Number.parseInt(hex, 16));

/** The `keyid` of a key: its SHA-256 thumbprint as a JWK, base64url (RFC 7638 §3.1, RFC 8037 Appendix A.3). */
export const thumbprintOf = (publicKey: Uint8Array): string =>
  encodeBase64url(sha256Bytes(JSON.stringify(publicJwk(publicKey))));
