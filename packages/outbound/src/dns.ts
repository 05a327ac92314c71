/**
 * DNS behind a port. Each question is asked once, with its own limits, and returns a value. Positive answers of the
 * resolver are kept apart from its failures.
 */
import { Resolver } from 'node:dns/promises';
import { codeOf, type TxtAnswer, type Unreachable, unreachable } from './answers.ts';

export type AddressAnswer =
  /** Every A and AAAA record, unchecked; or those of one family, and the fault of the query for the other. */
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly failed?: Unreachable }
  | Exclude<DnsTxtAnswer, { kind: 'records' }>;

export type DnsTxtAnswer = Exclude<TxtAnswer, { kind: 'refused' }>;

export interface DnsPort {
  /** After an abort the result is meaningless, but not an error. */
  addresses(name: string, signal: AbortSignal): Promise<AddressAnswer>;
  /** The strings of one TXT record are joined (RFC 7208 §3.3). */
  txt(name: string, signal: AbortSignal): Promise<DnsTxtAnswer>;
}

export interface NodeDnsOptions {
  /** `address` or `address:port`; the system's resolvers unless given. */
  readonly servers?: readonly string[];
  /** For one attempt. There are two attempts per server, the second with twice the time. */
  readonly timeoutMs?: number;
}

/** The name does not exist, or exists without such a record. All other codes are failures. */
const POSITIVE_ABSENCE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** DNS through c-ares: no hosts file, no search list, TCP if a UDP answer was truncated. */
export const nodeDns = ({ servers, timeoutMs = 800 }: NodeDnsOptions = {}): DnsPort => {
  /**
   * One resolver for each question, so that cancelling one question cancels no other. Positive absence returns no
   * values.
   */
  const ask = async <T>(
    signal: AbortSignal,
    question: (resolver: Resolver) => Promise<T[]>,
  ): Promise<readonly T[] | Unreachable> => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await question(resolver);
    } catch (error) {
      const code = codeOf(error);
      return POSITIVE_ABSENCE.has(code) ? [] : unreachable('dns', `DNS: ${code}`);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  return {
    addresses: async (name, signal) => {
      const families = await Promise.all([
        ask(signal, (resolver) => resolver.resolve4(name)),
        ask(signal, (resolver) => resolver.resolve6(name)),
      ]);
      const addresses = families.flatMap((family) => ('kind' in family ? [] : family));
      const failed = families.find((family) => 'kind' in family);
      // One family suffices to connect. Without any address, a failure of one family leaves the name's absence
      // unproven.
      if (addresses.length > 0) return { kind: 'addresses', addresses, ...(failed && { failed }) };
      return failed ?? { kind: 'absent' };
    },
    txt: async (name, signal) => {
      const records = await ask(signal, (resolver) => resolver.resolveTxt(name));
      if ('kind' in records) return records;
      return records.length === 0
        ? { kind: 'absent' }
        : { kind: 'records', records: records.map((strings) => strings.join('')) };
    },
  };
};
