/** A key that has leaked is not believed for longer in a tab that stays open. */
const USED_FOR_MS = 300_000;

let kept: { readonly document: Promise<string>; readonly atMs: number } | null = null;

/** The DID document of the service that this page came from, fetched at most `maxAgeMs` ago. Rejects where there is none. */
export const ownServiceDocument = (maxAgeMs = USED_FOR_MS): Promise<string> => {
  const nowMs = Date.now();
  if (kept !== null && Math.abs(nowMs - kept.atMs) < maxAgeMs) return kept.document;
  const begun = { document: fetchDocument(), atMs: nowMs };
  kept = begun;
  begun.document.catch(() => {
    if (kept === begun) kept = null;
  });
  return begun.document;
};

type Checked = { readonly ok: true } | { readonly ok: false; readonly failures: readonly { code: string }[] };

/** Checks again under a new document, once, where the one before does not have a key, as after a rotation. */
export const checkUnderOwnDocument = async <T extends Checked>(
  check: (document: string) => T,
): Promise<T> => {
  const first = check(await ownServiceDocument());
  if (first.ok || !first.failures.some(({ code }) => code === 'unknown-key')) return first;
  const newer = await ownServiceDocument(0).catch(() => null);
  return newer === null ? first : check(newer);
};

const fetchDocument = async (): Promise<string> => {
  const response = await fetch('.well-known/did.json', { cache: 'no-cache' });
  if (!response.ok) throw new Error(`The service's DID document: the service answered ${response.status}.`);
  return response.text();
};
