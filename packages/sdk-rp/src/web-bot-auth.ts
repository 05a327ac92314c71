/**
 * Demands that a request be signed (RFC 9421) with the same key as its Proof. Then the Agent that a site's bot
 * management saw and the Agent of the service's decision are the same.
 */
import { type CryptoPort, portableCrypto } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import { aFunction, anInteger, anObjectWith, optionally, type Rules, readArgument } from '@svc/sdk-core';
import { REQUEST_TAG, thumbprintOf } from '@svc/sdk-core/web-bot-auth';
import { isSignatureError, verifySignature } from 'http-message-sig';
import type { SignatureCheck } from './signature-check.ts';

export type { SignatureCheck, SignedRequest } from './signature-check.ts';

/** How old a signature may be. */
export interface SameKeyOptions {
  /**
   * Greatest age of a signature in seconds, 1–86,400; 300 unless given. Its own expiry time must not have passed
   * either.
   */
  maxAgeSeconds?: number;
  /** Use the verifier's, such as `nativeCrypto` of `@svc/protocol/native`. Portable JavaScript unless given. */
  crypto?: CryptoPort;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

const OPTIONS: Rules<SameKeyOptions> = {
  maxAgeSeconds: optionally(anInteger(1, 86_400, 'seconds; at most a day')),
  crypto: optionally(anObjectWith('a CryptoPort', [], ['verify'])),
  now: optionally(aFunction()),
};

const CLOCK_SKEW_SECONDS = 5;
const MAX_FIELD_CHARS = 8_192;
/** Several, because a proxy or another party may have signed too. */
const MAX_SIGNATURES = 4;

/**
 * A check for the option `signature` of the middlewares. It demands a signature with the tag `web-bot-auth` and the
 * thumbprint of the Proof's key as `keyid`, over `@authority` and `svc-proof` at least. Such a signature is about this
 * request and, like the Proof, valid once.
 * @throws SvcError `configuration`
 * @example
 * const options = { verifier, origin: 'https://shop.example', action: () => action, signature: sameKey() };
 */
export function sameKey(options: SameKeyOptions = {}): SignatureCheck {
  const read = readArgument('sameKey', options, OPTIONS, 'configuration');
  const { maxAgeSeconds: maxAge = 300, crypto = portableCrypto, now = Date.now } = read;
  return {
    accepts: `sig=("@authority" "svc-proof");created;expires;keyid;tag="${REQUEST_TAG}"`,
    async check({ method, url, fields, proof }) {
      const parsed = parseProof(proof);
      if (!parsed.ok) return 'the Proof names no key';
      const { publicKey } = parsed.value;
      const [input = '', signature = ''] = ['signature-input', 'signature'].map((name) =>
        fields.flatMap((one) => (one.name === name ? [one.value] : [])).join(', '),
      );
      if (input === '' || signature === '') return 'there is no Signature and Signature-Input';
      if (input.length > MAX_FIELD_CHARS || signature.length > MAX_FIELD_CHARS)
        return 'Signature or Signature-Input is too long';
      const message = {
        kind: 'request',
        method,
        targetUri: url.split('#', 1)[0] ?? url,
        // A field that the signature does not cover is not checked, and need not even be ASCII.
        fields: fields.filter(
          ({ name }) => name === 'signature' || name === 'signature-input' || input.includes(`"${name}"`),
        ),
      } as const;
      const keyid = thumbprintOf(publicKey);
      let fault: string | null = null;
      let isDecided = false;
      for (const label of labelsOf(input)) {
        const found = await findFault(() =>
          verifySignature(message, {
            label,
            policy: {
              algorithms: ['ed25519'],
              requiredComponents: ['@authority', 'svc-proof'],
              requiredParameters: ['created', 'expires', 'keyid', 'tag'],
              ...{ maxAge, clockSkew: CLOCK_SKEW_SECONDS, now: Math.floor(now() / 1000) },
            },
            resolveVerifier: ({ parameters }) => {
              if (parameters.tag !== REQUEST_TAG || parameters.keyid !== keyid) throw new OtherKeyError();
              return {
                algorithm: 'ed25519',
                verify: (data: Uint8Array, bytes: Uint8Array) => {
                  isDecided = true;
                  return crypto.verify(publicKey, data, bytes);
                },
              };
            },
          }),
        );
        if (found === null) return null;
        // Prefers a fault of a signature with that key over the fault that a proxy's signature has another key.
        if (fault === null || fault === OTHER_KEY || isDecided) fault = found;
        // The sender is not authenticated yet, so each request costs at most one signature verification.
        if (isDecided) break;
      }
      return fault ?? 'no signature has a label';
    },
  };
}

/** A match that only looks like a label is refused later, because no signature has that label. */
const labelsOf = (input: string): readonly string[] =>
  [...input.matchAll(/(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]*)=\(/g)]
    .slice(0, MAX_SIGNATURES)
    .map(([, label = '']) => label);

/** A signature by a proxy, or for another purpose; it is not verified. */
class OtherKeyError extends Error {}
const OTHER_KEY = `it is not of that key, or not with the tag ${REQUEST_TAG}`;

/** Any error, whatever its kind, refuses the request. */
const findFault = async (verify: () => Promise<unknown>): Promise<string | null> => {
  try {
    await verify();
    return null;
  } catch (error) {
    if (isSignatureError(error) && error.cause instanceof OtherKeyError) return OTHER_KEY;
    return `its signature does not hold: ${isSignatureError(error) ? error.code : 'it cannot be read'}`;
  }
};
