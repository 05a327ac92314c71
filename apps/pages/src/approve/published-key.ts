/**
 * Checks that a key is the Principal's before the page signs with it. The service would refuse another key's signature
 * only after it has reserved a Grant.
 */
import { type DidWeb, encodeBase64url, parseDidDocument } from '@svc/protocol';
import type { CheckedAccessRequest } from '@svc/sdk-principal';
import type { Act } from './act.ts';
import type { BroughtKey } from './vault.ts';

type Receipt = CheckedAccessRequest['receipt'];

/**
 * Compares a key with the one that is published under its kid. The service names the kids in force; the DID document
 * under which the Receipt's Grant was verified holds the keys. The page does not compare a key that is newer than that
 * document; the service checks everything that is signed with it.
 *
 * @throws Error that says what is wrong
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

/** Null where the document cannot be read. */
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
