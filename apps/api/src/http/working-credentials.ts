/**
 * Tokens that have authenticated here before. Failed authentications are limited per client address, and many honest
 * clients can share one address: a credential known to work is let through to authentication even while its address
 * is over that limit, so that one misconfigured neighbour cannot lock the others out. Being known proves nothing;
 * authentication still decides. Whose they were then tells which limits to look at before a look-up is spent on them.
 *
 * Kept as SHA-256, bounded; the one that has not worked for longest goes first.
 */
import { hash } from 'node:crypto';
import type { Caller } from './caller.ts';

export class WorkingCredentials {
  readonly #known = new Map<string, Caller>();

  constructor(private readonly capacity = 10_000) {}

  /** Whose it was when it last worked. */
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
