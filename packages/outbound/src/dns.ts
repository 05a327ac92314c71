/**
 * DNS behind a port. Each question is asked once, with limits of its own, and answers a value: what the resolver said
 * positively is kept apart from what it failed to say.
 */
import { Resolver } from 'node:dns/promises';
import { codeOf, type TxtAnswer, type Unreachable, unreachable } from './answers.ts';

export type AddressAnswer =
  /** Every A and AAAA record, unchecked; or those of one family, and how the question for the other failed. */
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly failed?: Unreachable }
  | Exclude<DnsTxtAnswer, { kind: 'records' }>;

export type DnsTxtAnswer = Exclude<TxtAnswer, { kind: 'refused' }>;

export interface DnsPort {
  /** Aborting makes the answer worthless, not an error. */
  addresses(name: string, signal: AbortSignal): Promise<AddressAnswer>;
  /** The strings of one TXT record are joined (RFC 7208 §3.3). */
  txt(name: string, signal: AbortSignal): Promise<DnsTxtAnswer>;
}

export interface NodeDnsOptions {
  /** `address` or `address:port`; the system's resolvers when left out. */
  readonly servers?: readonly string[];
  /** For one attempt. Two attempts per server, the second with twice the time. */
  readonly timeoutMs?: number;
}

/** Name does not exist; name exists without such a record. Everything else is a failure. */
const POSITIVE_ABSENCE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** DNS by c-ares: no hosts file, no search list, TCP when UDP was truncated. */
export const nodeDns = ({ servers, timeoutMs = 800 }: NodeDnsOptions = {}): DnsPort => {
  /** A resolver for each question, so that cancelling one cancels no other. Positive absence is no values. */
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
      // One family is enough to connect; with neither, a failure in one leaves the name's absence unproven.
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
