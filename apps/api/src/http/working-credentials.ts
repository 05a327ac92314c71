/**
 * Tokens that have authenticated here before. Failed authentications are limited per client address, and many honest
 * clients can share one address: a credential known to work is let through to authentication even while its address
 * is over that limit, so that one misconfigured neighbour cannot lock the others out. Being known proves nothing;
 * authentication still decides.
 *
 * Kept as SHA-256, bounded, oldest out first.
 */
import { hash } from 'node:crypto';

export class WorkingCredentials {
  readonly #known = new Set<string>();

  constructor(private readonly capacity = 10_000) {}

  has(token: string): boolean {
    return this.#known.has(digestOf(token));
  }

  add(token: string): void {
    const digest = digestOf(token);
    if (this.#known.has(digest)) return;
    this.#known.add(digest);
    if (this.#known.size <= this.capacity) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }

  delete(token: string): void {
    this.#known.delete(digestOf(token));
  }
}

const digestOf = (token: string): string => hash('sha256', token, 'base64');
