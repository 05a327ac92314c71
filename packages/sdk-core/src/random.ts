/** Random values that must never repeat. */
import { encodeBase64url } from '@svc/codec';
import { SvcError } from './errors.ts';

/**
 * 24 random bytes as 32 base64url characters. `advice` ends the message where the runtime has no WebCrypto.
 * @throws SvcError `configuration`
 */
export function randomToken(advice = ''): string {
  const { crypto } = globalThis as { crypto?: typeof globalThis.crypto };
  if (crypto === undefined) throw new SvcError('configuration', `this runtime has no WebCrypto${advice}`);
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(24)));
}
