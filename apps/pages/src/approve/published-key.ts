/**
 * Whether a key is the Principal's, before anything is signed with it: what another signs is refused only once a Grant
 * was reserved for it.
 */
import { type DidWeb, encodeBase64url, parseDidDocument } from '@svc/protocol';
import type { CheckedAccessRequest } from '@svc/sdk-principal';
import type { Act } from './act.ts';
import type { BroughtKey } from './vault.ts';

type Receipt = CheckedAccessRequest['receipt'];

/**
 * Compares a key with what is published as its kid: the service names the kids that sign now, and the document by which
 * the Receipt's Grant was verified holds the keys. One that came after that document is left to the service, which
 * checks all that is signed. Throws what is wrong.
 */
export const checkPublished = async ({ jwk, kid }: BroughtKey, act: Act, receipt: Receipt): Promise<void> => {
  const { keys = [] } = await act().me();
  const active = keys.filter(({ state }) => state === 'active').map((key) => key.kid);
  if (!active.includes(kid))
    throw new Error(
      `No key that signs now is published as ${kid}. There is: ${active.join(', ') || 'none'}.`,
    );
  const published = (await readDocument(receipt))?.assertionKeys.get(kid);
  if (published !== undefined && encodeBase64url(published) !== jwk.x)
    throw new Error(`This is not the key published as ${kid}.`);
};

/** Milliseconds for the whole answer. */
const DEADLINE_MS = 10_000;

/** Null: it cannot be had. */
const readDocument = async ({ evidence: { issuer_resolution: resolution } }: Receipt) => {
  if (resolution === undefined) return null;
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const response = await fetch(`evidence/${resolution.did_document_hash}`, { signal });
    return response.ok ? parseDidDocument(await response.text(), resolution.did as DidWeb) : null;
  } catch {
    return null;
  }
};
