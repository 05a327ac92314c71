/** Milliseconds for which a document is used. It bounds how long a tab that stays open accepts a leaked key. */
export const USED_FOR_MS = 300_000;
/** Milliseconds for the whole answer. */
const DEADLINE_MS = 60_000;

export interface OwnDocument {
  readonly text: string;
  /** When it was requested, by the clock of the browser. */
  readonly askedAtMs: number;
}

/** Whether it was requested less than `maxAgeMs` ago, or in the future, as after the clock was set back. */
export const isYoung = ({ askedAtMs }: { readonly askedAtMs: number }, maxAgeMs = USED_FOR_MS): boolean =>
  Math.abs(Date.now() - askedAtMs) < maxAgeMs;

let kept: OwnDocument | null = null;
let begun: { readonly document: Promise<OwnDocument>; readonly askedAtMs: number } | null = null;

/**
 * The DID document of the service that this page came from, requested at most `maxAgeMs` ago. Rejects where it cannot
 * be fetched; the one before is kept for callers that accept its age.
 */
export const ownServiceDocument = async (maxAgeMs = USED_FOR_MS): Promise<OwnDocument> => {
  if (kept !== null && isYoung(kept, maxAgeMs)) return kept;
  if (begun !== null && isYoung(begun, maxAgeMs)) return begun.document;
  const askedAtMs = Date.now();
  const mine = { document: fetchDocument().then((text) => ({ text, askedAtMs })), askedAtMs };
  begun = mine;
  try {
    const document = await mine.document;
    if (begun === mine) kept = document;
    return document;
  } finally {
    if (begun === mine) begun = null;
  }
};

type Checked = { readonly ok: true } | { readonly ok: false; readonly failures: readonly { code: string }[] };

/** Checks again, once, under a new document where the one before does not have a key, as after a rotation. */
export const checkUnderOwnDocument = async <T extends Checked>(
  check: (document: string) => T,
): Promise<T> => {
  const first = check((await ownServiceDocument()).text);
  if (first.ok || !first.failures.some(({ code }) => code === 'unknown-key')) return first;
  const newer = await ownServiceDocument(0).catch(() => null);
  return newer === null ? first : check(newer.text);
};

const fetchDocument = async (): Promise<string> => {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const response = await fetch('.well-known/did.json', { cache: 'no-cache', signal }).catch(() => {
    throw new Error('The service did not answer.');
  });
  if (!response.ok) throw new Error(`The service's DID document: the service answered ${response.status}.`);
  return response.text();
};
