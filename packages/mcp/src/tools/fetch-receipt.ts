/** The Receipt of a decision by its id, from the service, with the key that the server was started with. What comes is verified as any other. */
import { isReceiptId } from '@svc/protocol';
import { createPrincipalClient, SvcError } from '@svc/sdk-principal';
import type { Settings } from '../settings.ts';

const ANSWER_MS = 10_000;

/** Of a Receipt's id the answer of the service about it, as text; anything else as it is. */
export type Finder = (given: string) => Promise<string>;

/**
 * A relying party's key reads its own decisions, a Principal's those about its Grants; with both the first that has it.
 * @throws SvcError `configuration` without a key, `refused` where no key may read it
 */
export const createFinder =
  (settings: Pick<Settings, 'principal' | 'relyingParty'>, maxChars: number): Finder =>
  async (given) => {
    const id = given.trim();
    if (!isReceiptId(id)) return given;
    const { principal, relyingParty } = settings;
    if (principal === undefined && relyingParty === undefined)
      throw new SvcError(
        'configuration',
        'a receipt_id needs SVC_URL and SVC_RP_KEY or SVC_PRINCIPAL_KEY; without them pass the Receipt itself',
      );
    const found = relyingParty === undefined ? null : await get(relyingParty, `/decisions/${id}`, maxChars);
    if (found !== null) return found;
    const own = principal === undefined ? null : await getOwn(principal, id, maxChars);
    if (own !== null) return own;
    throw new SvcError('refused', `no decision ${id} that these keys may read`, { code: 'NOT_FOUND' });
  };

type Access = { readonly baseUrl: string; readonly apiKey: string };

const getOwn = async ({ baseUrl, apiKey }: Access, id: string, maxChars: number): Promise<string | null> => {
  const { subject } = await createPrincipalClient({ baseUrl, apiKey }).me();
  return get({ baseUrl, apiKey }, `/principals/${encodeURIComponent(subject)}/decisions/${id}`, maxChars);
};

/** Null: there is none, or not for this key. */
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
