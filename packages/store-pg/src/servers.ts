/**
 * The servers that a `DATABASE_URL` names: one server, or several of which one is the primary, in libpq's form
 * (`postgres://user@one:5432,two:5432/svc?target_session_attrs=read-write`). Connections go to the server that worked
 * last. When it cannot be reached or takes no writes, they go to the next.
 */
import { StoreError } from '@svc/service';

/** Three groups: scheme and user info, which ends at the last `@` as in the driver; the hosts; the rest. */
const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]+)(.*)$/s;
const ATTRIBUTES = 'target_session_attrs';

/** Role of the server that a connection is for. */
export type Role = 'primary' | 'replica';

const ALLOWED: { readonly [role in Role]: readonly string[] } = {
  primary: ['read-write', 'primary', 'any'],
  replica: ['standby', 'read-only', 'prefer-standby', 'any'],
};

export class Servers {
  readonly #urls: readonly string[];
  /**
   * Whether servers that take no writes are passed by: always among several, unless `any` is asked for. `mustTakeNone`:
   * for replicas, whether servers that take writes are passed by.
   */
  readonly mustTakeWrites: boolean;
  readonly mustTakeNone: boolean;
  #current = 0;

  constructor(databaseUrl: string, role: Role = 'primary') {
    const [, scheme = '', hosts = '', rest = ''] = SHAPE.exec(databaseUrl) ?? [];
    const several = hosts.split(',').map((host) => `${scheme}${host}${rest}`);
    const wanted = new Set(several.map(attributesOf));
    for (const one of wanted)
      if (one !== null && !ALLOWED[role].includes(one))
        throw new StoreError(
          'refused',
          `${ATTRIBUTES}=${one} in the ${role === 'primary' ? "database's" : "replica's"} address: it must be ${listed(ALLOWED[role])}`,
        );
    this.#urls = hosts === '' ? [databaseUrl] : several.map(withoutAttributes);
    this.mustTakeNone = role === 'replica';
    this.mustTakeWrites =
      role === 'primary' && !wanted.has('any') && (several.length > 1 || !wanted.has(null));
  }

  get count(): number {
    return this.#urls.length;
  }

  get current(): string {
    return this.#urls[this.#current % this.#urls.length] ?? '';
  }

  /**
   * Called when a connection to `url` failed or is of no use. Callers that find this at the same time advance only
   * once.
   */
  passBy(url: string): void {
    if (url === this.current) this.#current = (this.#current + 1) % this.#urls.length;
  }
}

const known = new Map<string, Servers>();

/**
 * Answers the same object to every caller, so that all pools learn from a failure of one. The first caller sets the
 * role.
 */
export const serversOf = (databaseUrl: string, role?: Role): Servers => {
  const servers = known.get(databaseUrl) ?? new Servers(databaseUrl, role);
  known.set(databaseUrl, servers);
  return servers;
};

const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

const attributesOf = (url: string): string | null =>
  URL.canParse(url) ? new URL(url).searchParams.get(ATTRIBUTES) : null;

const withoutAttributes = (text: string): string => {
  if (attributesOf(text) === null) return text;
  const url = new URL(text);
  url.searchParams.delete(ATTRIBUTES);
  return url.href;
};
