/**
 * Fetches the Receipt of a decision by its id from the service, with the server's key. It is verified like any other.
 */
import { isReceiptId } from '@svc/protocol';
import { createPrincipalClient, SvcError } from '@svc/sdk-principal';
import type { Settings } from '../settings.ts';

const ANSWER_MS = 10_000;

/** A text to verify. */
export interface VerifiableText {
  readonly text: string;
  /** The requested id, if an id was given: a genuine Receipt of another decision is not an answer. */
  readonly receiptId: string | null;
}

/** If the input is a Receipt's id, fetches the service's answer as text; returns any other input unchanged. */
export type Finder = (given: string) => Promise<VerifiableText>;

/**
 * A relying party's key reads the party's own decisions; a Principal's key reads those about its Grants. With both, the
 * first key that finds the decision is used. If the relying party's key is refused, for example revoked, the
 * Principal's is tried.
 * @throws SvcError `configuration` without a key, `refused` if no key may read it
 */
export const createFinder =
  (settings: Pick<Settings, 'principal' | 'relyingParty'>, maxChars: number): Finder =>
  async (given) => {
    const receiptId = given.trim();
    if (!isReceiptId(receiptId)) return { text: given, receiptId: null };
    const { principal, relyingParty } = settings;
    if (principal === undefined && relyingParty === undefined)
      throw new SvcError(
        'configuration',
        'a receipt_id needs SVC_URL and SVC_RP_KEY or SVC_PRINCIPAL_KEY; without them pass the Receipt itself',
      );
    let refused: SvcError | null = null;
    if (relyingParty !== undefined) {
      const text = await get(relyingParty, `/decisions/${receiptId}`, maxChars).catch((error: unknown) => {
        if (principal === undefined || !isOfKey(error)) throw error;
        refused = error;
        return null;
      });
      if (text !== null) return { text, receiptId };
    }
    const text = principal === undefined ? null : await getOwn(principal, receiptId, maxChars);
    if (text !== null) return { text, receiptId };
    throw (
      refused ??
      new SvcError('refused', `no decision ${receiptId} that these keys may read`, { code: 'NOT_FOUND' })
    );
  };

const isOfKey = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.status === 401 || error.status === 403);

type Access = { readonly baseUrl: string; readonly apiKey: string };

const getOwn = async ({ baseUrl, apiKey }: Access, id: string, maxChars: number): Promise<string | null> => {
  const { subject } = await createPrincipalClient({ baseUrl, apiKey }).me();
  return get({ baseUrl, apiKey }, `/principals/${encodeURIComponent(subject)}/decisions/${id}`, maxChars);
};

/** Null if there is none, or this key may not read it. */
const get = async ({ baseUrl, apiKey }: Access, path: string, maxChars: number): Promise<string | null> => {
  const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => {
    throw new SvcError('network', 'the service did not answer');
  });
  const text = response.ok ? await readText(response, maxChars) : '';
  if (!response.ok) await response.body?.cancel();
  if (response.status === 404) return null;
  if (!response.ok)
    throw new SvcError('refused', `the service answered ${response.status}`, { status: response.status });
  return text;
};

const readText = async (response: Response, maxChars: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > maxChars) throw new SvcError('bad-response', 'the answer is longer than any Receipt');
  }
  return text + decoder.decode();
};
