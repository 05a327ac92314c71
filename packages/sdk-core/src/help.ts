/**
 * Where the guide of the service says what to do: addresses of its service and a code, and no texts. Errors that a
 * client throws are given theirs as they leave it, wherever in it they were made.
 */
import { SvcError } from './errors.ts';

/** The page about an error code of the service or a relying party, the reason of a DENY, or a kind of `SvcError`. */
export const helpUrlOf = (baseUrl: string, about: 'errors' | 'reasons' | 'kinds', code: string): string =>
  `${baseUrl}/guide/${about}/${code}`;

/** The `Link` header to it (RFC 8288). */
export const helpLink = (url: string): string => `<${url}>; rel="help"`;

/** The address without a slash at its end; null for what is none that may be shown to others and opened. */
export function helpBase(address: unknown): string | null {
  if (typeof address !== 'string' || !/^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x7e]{1,512}$/i.test(address))
    return null;
  const { origin, pathname, username, password } = URL.canParse(address) ? new URL(address) : NO_URL;
  return origin === '' || username !== '' || password !== ''
    ? null
    : `${origin}${pathname.replace(/\/+$/, '')}`;
}

const NO_URL = { origin: '', pathname: '', username: '', password: '' };

/** Thrown on, with the page about its kind where it names none. A service that could not be reached has no page to show. */
function tell(error: unknown, base: string | null): never {
  if (base === null || !(error instanceof SvcError) || error.kind === 'network') throw error;
  if ((error.helpUrl ?? null) === null) Reflect.set(error, 'helpUrl', helpUrlOf(base, 'kinds', error.kind));
  throw error;
}

/** Runs it; what it throws, or its promise rejects with, or its generator, names its page of the guide at `address`. */
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

/** The same client, of functions and objects of functions: what any of them throws names its page. */
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
