/** Keys of DID documents, in the form that jose accepts. */
import { decodeMultikey } from '@svc/protocol';

/** The public key that a DID document publishes as `kid`, as a JWK. */
export const publicJwkOf = (document: unknown, kid: string) => {
  const { verificationMethod } = document as {
    verificationMethod: readonly { id: string; publicKeyMultibase: string }[];
  };
  const method = verificationMethod.find(({ id }) => id === kid);
  const bytes = decodeMultikey(method?.publicKeyMultibase ?? '');
  if (bytes === null) throw new Error(`${kid} is not in the document`);
  return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(bytes).toString('base64url') };
};
