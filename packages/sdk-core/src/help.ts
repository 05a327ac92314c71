/**
 * Addresses of pages of the service's guide, which say what to do: made of the service's address and a code, without
 * texts. A client adds the page to every error that leaves it, wherever in the client the error was made.
 */
import { SvcError } from './errors.ts';

/**
 * The address of the page about an error code of the service or of a relying party, a DENY's reason, or an `SvcError`
 * kind.
 */
export const helpUrlOf = (baseUrl: string, about: 'errors' | 'reasons' | 'kinds', code: string): string =>
  `${baseUrl}/guide/${about}/${code}`;

/** The `Link` header to that page (RFC 8288). */
export const helpLink = (url: string): string => `<${url}>; rel="help"`;

/** The address without trailing slashes. Null unless it is one that may be shown to others and opened in a browser. */
export function helpBase(address: unknown): string | null {
  if (typeof address !== 'string' || !/^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x7e]{1,512}$/i.test(address))
    return null;
  const { origin, pathname, username, password } = URL.canParse(address) ? new URL(address) : NO_URL;
  return origin === '' || username !== '' || password !== ''
    ? null
    : `${origin}${pathname.replace(/\/+$/, '')}`;
}

const NO_URL = { origin: '', pathname: '', username: '', password: '' };

/**
 * Throws the error again, with the page about its kind if it names none. A service that could not be reached has no
 * page to show.
 */
function tell(error: unknown, base: string | null): never {
  if (base === null || !(error instanceof SvcError) || error.kind === 'network') throw error;
  if ((error.helpUrl ?? null) === null) Reflect.set(error, 'helpUrl', helpUrlOf(base, 'kinds', error.kind));
  throw error;
}

/**
 * Runs the function. An error that it throws, or that its promise or generator rejects with, gets its guide page at
 * `address`.
 */
export function withHelp<T>(address: unknown, run: () => T): T {
  const base = helpBase(address);
  let result: T;
  try {
    result = run();
  } catch (error) {
    return tell(error, base);
  }
  if (result instanceof Promise) return result.catch((error: unknown) => tell(error, base)) as T;
  return isGenerator(result) ? (withHelpOf(result, base) as T) : result;
}

const isGenerator = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

async function* withHelpOf(items: AsyncGenerator, base: string | null): AsyncGenerator {
  try {
    yield* items;
  } catch (error) {
    tell(error, base);
  }
}

/** The same client, made of functions and objects of functions; errors that any of them throws get their guide page. */
export function helpful<Client extends object>(client: Client, address: unknown): Client {
  const members = Object.entries(client).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === 'function'
      ? (...given: unknown[]) => withHelp(address, () => member.apply(client, given))
      : typeof member === 'object' && member !== null
        ? helpful(member, address)
        : member,
  ]);
  return Object.fromEntries(members);
}
