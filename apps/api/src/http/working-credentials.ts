/**
 * Tokens that have authenticated here before. Failed authentications are limited per client address, and many honest
 * clients can share one address. So a known token is passed to authentication even while its address is over that
 * limit, and one misconfigured neighbour cannot lock the others out. A known token proves nothing; authentication still
 * decides. The stored caller determines which limits to check before a look-up is spent.
 *
 * Tokens are stored as SHA-256 in a table of limited size; the one that has not been used for longest is removed first.
 */
import { hash } from 'node:crypto';
import type { Caller } from './caller.ts';

export class WorkingCredentials {
  readonly #known = new Map<string, Caller>();

  constructor(private readonly capacity = 10_000) {}

  /** The caller that the token belonged to when it last worked. */
  find(token: string): Caller | undefined {
    return this.#known.get(digestOf(token));
  }

  add(token: string, caller: Caller): void {
    const digest = digestOf(token);
    this.#known.delete(digest);
    this.#known.set(digest, caller);
    if (this.#known.size <= this.capacity) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }

  delete(token: string): void {
    this.#known.delete(digestOf(token));
  }
}

const digestOf = (token: string): string => hash('sha256', token, 'base64');
