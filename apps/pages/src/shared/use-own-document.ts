/**
 * The service's DID document in a page that stays open: a document that is too old is never used to judge what is
 * shown.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isYoung, type OwnDocument, USED_FOR_MS } from './own-service-document.ts';

/** Fetches a document that was requested at most `maxAgeMs` ago. */
export type FetchDocument = (maxAgeMs?: number) => Promise<OwnDocument>;

interface Use {
  /** Null while there is none that is young enough. */
  readonly document: OwnDocument | null;
  /** Why the last request failed; the document before may still be young enough. */
  readonly problem: Error | null;
  /** Uses a document of at most this age, and fetches one where there is none. The same function every time. */
  readonly ask: (maxAgeMs?: number) => void;
}

/** Milliseconds after a failed request until the next. */
const AGAIN_AFTER_MS = 30_000;

/** The one that was requested later, unless the clock was set back since: answers may arrive in another order. */
const later = (one: OwnDocument | null, other: OwnDocument): OwnDocument =>
  one !== null && isYoung(one) && one.askedAtMs > other.askedAtMs ? one : other;

/**
 * Fetches by itself only to replace a document that has become too old, and repeats that until it succeeds.
 * `fetchDocument` must be the same function every time.
 */
export const useOwnDocument = (fetchDocument: FetchDocument | null): Use => {
  const [document, setDocument] = useState<OwnDocument | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const newest = useRef<OwnDocument | null>(null);
  const ask = useCallback(
    (maxAgeMs?: number) => {
      const askedAtMs = Date.now();
      const isOvertaken = () => (newest.current?.askedAtMs ?? 0) > askedAtMs;
      setProblem(null);
      fetchDocument?.(maxAgeMs).then(
        (next) => {
          newest.current = later(newest.current, next);
          setDocument(newest.current);
          setProblem(null);
        },
        (error: Error) => {
          if (!isOvertaken()) setProblem(error);
        },
      );
    },
    [fetchDocument],
  );
  useEffect(() => {
    if (document === null) return;
    const onOld = () => {
      setDocument(null);
      ask();
    };
    const timer = setTimeout(onOld, document.askedAtMs + USED_FOR_MS - Date.now());
    return () => clearTimeout(timer);
  }, [document, ask]);
  useEffect(() => {
    if (document !== null || problem === null) return;
    const timer = setTimeout(ask, AGAIN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [document, problem, ask]);
  // Checked here as well, since the timer of a machine that slept fires late.
  return { document: document !== null && isYoung(document) ? document : null, problem, ask };
};
