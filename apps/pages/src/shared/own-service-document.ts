/** A key that has leaked is not believed for longer in a tab that stays open. */
export const USED_FOR_MS = 300_000;
/** An answer is not waited for longer. */
const DEADLINE_MS = 60_000;

export interface OwnDocument {
  readonly text: string;
  /** When it was asked for, by the clock of the browser. */
  readonly askedAtMs: number;
}

/** Whether it was asked for less than `maxAgeMs` ago, or ahead: the clock may have been set back since. */
export const isYoung = ({ askedAtMs }: { readonly askedAtMs: number }, maxAgeMs = USED_FOR_MS): boolean =>
  Math.abs(Date.now() - askedAtMs) < maxAgeMs;

let kept: OwnDocument | null = null;
let begun: { readonly document: Promise<OwnDocument>; readonly askedAtMs: number } | null = null;

/**
 * The DID document of the service that this page came from, asked for at most `maxAgeMs` ago. Rejects where there is
 * none; the one before is kept for those to whom it is not too old.
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

/** Checks again under a new document, once, where the one before does not have a key, as after a rotation. */
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
