/**
 * Fetches what `--fetch` or an address names: from the named host only, with a size limit, without redirects and
 * credentials.
 */
import { parseDidWeb } from '@svc/protocol';
import { SourceError } from '@svc/transparency/monitor';
import { UsageError } from '../command-line.ts';
import { isProtected } from '../protected-address.ts';
import { MAX_BUNDLE_BYTES, MAX_INPUT_BYTES } from './inputs.ts';
import { createHttpSource } from './monitor/http-source.ts';
import { findTextFault } from './recognise.ts';

export const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** Fetches the text at an address. Rejects with UsageError. */
export const fetchAddress = async (address: string): Promise<string> => {
  if (!URL.canParse(address)) throw new UsageError(`${address} is no address`);
  const url = new URL(address);
  const { origin, pathname, search, username } = url;
  if (username !== '') throw new UsageError('an address must have no credential in it');
  if (!isProtected(url))
    throw new UsageError(`${address} must be https: whoever is in between could give another document`);
  const { status, text } = await ask(origin, pathname + search, MAX_BUNDLE_BYTES);
  if (status === 401 || status === 403 || status === 404)
    throw new UsageError(
      `${address} answered ${status}: where it takes an API key, fetch it with that one and give the file`,
    );
  if (status !== 200) throw new UsageError(`${address} answered ${status}`);
  return text;
};

/** The proof of inclusion, or why the host showed none. */
export type FoundInclusion = { readonly text: string } | { readonly notShown: string };

/** The host of the service that has this DID. */
export interface ServiceHost {
  /** The service's DID document. Rejects with UsageError if the host serves none. */
  fetchDocument(): Promise<string>;
  findInclusion(receiptId: string): Promise<FoundInclusion>;
  /** Null if the host serves none. */
  findAttestation(receiptId: string): Promise<string | null>;
}

/** Throws UsageError if the DID names no host. */
export const serviceHost = (did: string): ServiceHost => {
  const parsed = parseDidWeb(did);
  // DIDs allow labels that no URL has, such as `xn--a`.
  if (parsed === null || parsed.path.length > 0 || !URL.canParse(`http://${parsed.host}`))
    throw new UsageError(`--fetch needs the did:web DID of a service, not ${did}`);
  const { host, port } = parsed;
  const scheme = isProtected(new URL(`http://${host}`)) ? 'http' : 'https';
  const origin = `${scheme}://${host}${port === null ? '' : `:${port}`}`;
  const find = async (path: string): Promise<{ status: number; text: string | null }> => {
    const { status, text } = await ask(origin, path, MAX_INPUT_BYTES);
    if (status !== 200) return { status, text: null };
    // For example the page of a proxy on the way, which says nothing about the Receipt.
    const fault = findTextFault(text);
    if (fault !== null)
      throw new UsageError(`${origin}${path} answered 200 and no JSON object: this is ${fault}`);
    return { status, text };
  };
  return {
    fetchDocument: async () => {
      const { text } = await find('/.well-known/did.json');
      if (text === null) throw new UsageError(`${origin} serves no DID document at /.well-known/did.json`);
      return text;
    },
    findInclusion: async (id) => {
      const { status, text } = await find(`/decisions/${id}/inclusion`);
      if (text === null) return { notShown: `${origin} answered ${status}` };
      const isPending = /"status"\s*:\s*"pending"/.test(text);
      return isPending ? { notShown: `${origin} says that its day is not closed yet` } : { text };
    },
    findAttestation: async (id) => (await find(`/decisions/${id}/attestation`)).text,
  };
};

const ask = async (origin: string, path: string, maxBytes: number) => {
  try {
    return await createHttpSource(origin, new AbortController().signal).fetchText(path, maxBytes);
  } catch (error) {
    if (error instanceof SourceError) throw new UsageError(`${origin} cannot be asked: ${error.message}`);
    throw error;
  }
};
