/**
 * The `Authorization` value that the receiver of a pushed stream requires (SSF 1.0, `authorization_header`). It is
 * stored sealed with AES-256-GCM. The key is derived from a root of SVC_WEBHOOK_KEYS, which the database does not
 * contain, for one stream; the URL is authenticated with it. So an altered row cannot send the header to another URL.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { WebhookSecrets } from '../events/webhook-secrets.ts';
import type { SealedAuthorization } from '../ports/streams.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The stream and the URL that a header is sealed for. */
export interface PushPlace {
  readonly streamId: string;
  readonly url: string;
}

/** The sealed header; null when there is no root for new secrets. `nonce`: 12 random bytes. */
export const sealAuthorization = (
  secrets: WebhookSecrets,
  place: PushPlace,
  header: string,
  nonce: Uint8Array,
): SealedAuthorization | null => {
  const root = secrets.current;
  const key = root === null ? null : keyOf(secrets, root, place);
  if (root === null || key === null) return null;
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place.url));
  const sealed = Buffer.concat([nonce, cipher.update(header, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { root, sealed: sealed.toString('base64url') };
};

/** The header; null when its root is not configured any more, or when it was sealed for another place. */
export const openAuthorization = (
  secrets: WebhookSecrets,
  place: PushPlace,
  { root, sealed }: SealedAuthorization,
): string | null => {
  const key = keyOf(secrets, root, place);
  const bytes = Buffer.from(sealed, 'base64url');
  if (key === null || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place.url))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return (
      decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return null;
  }
};

const keyOf = (secrets: WebhookSecrets, root: string, { streamId }: PushPlace): Uint8Array | null =>
  secrets.keyOf(root, `svc push authorization ${streamId}`);
