/**
 * DNS behind a port. Each question is asked once, with limits of its own, and answers a value: what the resolver said
 * positively is kept apart from what it failed to say.
 */
import { Resolver } from 'node:dns/promises';
import { codeOf, type TxtAnswer, unreachable } from './answers.ts';

export type AddressAnswer =
  /** Every A and AAAA record, unchecked. */
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
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
  /** A resolver for each question, so that cancelling one cancels no other. */
  const ask = async <T>(
    signal: AbortSignal,
    question: (resolver: Resolver) => Promise<T[]>,
  ): Promise<T[]> => {
    if (signal.aborted) throw unreachable('deadline', 'out of time');
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await question(resolver);
    } catch (error) {
      const code = codeOf(error);
      if (POSITIVE_ABSENCE.has(code)) return [];
      throw unreachable('dns', `DNS: ${code}`);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  return {
    addresses: async (name, signal) => {
      const families = await Promise.allSettled([
        ask(signal, (resolver) => resolver.resolve4(name)),
        ask(signal, (resolver) => resolver.resolve6(name)),
      ]);
      const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
      // One family is enough to connect; with neither, a failure in one leaves the name's absence unproven.
      if (addresses.length > 0) return { kind: 'addresses', addresses };
      const failed = families.find((family) => family.status === 'rejected');
      return failed === undefined ? { kind: 'absent' } : failureOf(failed.reason);
    },
    txt: async (name, signal) => {
      try {
        const records = await ask(signal, (resolver) => resolver.resolveTxt(name));
        if (records.length === 0) return { kind: 'absent' };
        return { kind: 'records', records: records.map((strings) => strings.join('')) };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
};
