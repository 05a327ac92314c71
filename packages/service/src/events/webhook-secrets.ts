/**
 * Secrets of webhook endpoints. No secret is stored: each is derived from a root that the processes are configured with
 * (SVC_WEBHOOK_KEYS), so a copy of the database contains nothing to sign with. New secrets are made from the first
 * root. Secrets of another root work as long as that root is configured.
 */
import { createHash, hkdfSync } from 'node:crypto';
import type { EventSecretRecord } from '../ports/event-subscriptions.ts';

const SECRET_BYTES = 32;

export class WebhookSecrets {
  private readonly roots: ReadonlyMap<string, string>;

  /**
   * `keys`: 32 characters or more each, the one for new secrets first. Without any, the deployment sends no webhooks.
   */
  constructor(keys: readonly string[]) {
    this.roots = new Map(keys.map((key) => [nameOf(key), key]));
  }

  /** The name of the root for new secrets; null without any. */
  get current(): string | null {
    const [first] = this.roots.keys();
    return first ?? null;
  }

  /** The secret, 32 bytes; null when its root is not configured any more. */
  derive(
    subscriptionId: string,
    { number, root }: Pick<EventSecretRecord, 'number' | 'root'>,
  ): Uint8Array | null {
    return this.keyOf(root, `svc webhook secret ${subscriptionId} ${number}`);
  }

  /** A key of 32 bytes for one purpose; null when the root is not configured any more. */
  keyOf(root: string, purpose: string): Uint8Array | null {
    const key = this.roots.get(root);
    return key === undefined ? null : new Uint8Array(hkdfSync('sha256', key, '', purpose, SECRET_BYTES));
  }
}

/** The secret as Standard Webhooks writes it: `whsec_` and base64. */
export const presentSecret = (secret: Uint8Array): string =>
  `whsec_${Buffer.from(secret).toString('base64')}`;

/** Name of a root: it tells roots apart and reveals nothing of them. */
const nameOf = (key: string): string =>
  createHash('sha256').update(`name of ${key}`).digest('hex').slice(0, 12);
