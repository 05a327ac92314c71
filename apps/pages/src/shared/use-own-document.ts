/** The service's DID document in a page that stays open: what is shown is never judged by one that is too old. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isYoung, type OwnDocument, USED_FOR_MS } from './own-service-document.ts';

/** A document that was asked for at most `maxAgeMs` ago. */
export type FetchDocument = (maxAgeMs?: number) => Promise<OwnDocument>;

interface Use {
  /** Null while there is none that is young enough. */
  readonly document: OwnDocument | null;
  /** Why the last one that was asked for did not come; the one before may still be young enough. */
  readonly problem: Error | null;
  /** Takes one of at most this age, fetched where there is none. The same function every time. */
  readonly ask: (maxAgeMs?: number) => void;
}

/** After one that did not come. */
const AGAIN_AFTER_MS = 30_000;

/** The one that was asked for later, unless the clock was set back since: answers may come in another order. */
const later = (one: OwnDocument | null, other: OwnDocument): OwnDocument =>
  one !== null && isYoung(one) && one.askedAtMs > other.askedAtMs ? one : other;

/** Asks by itself only in place of a document that has become too old, until it comes. `fetchDocument`: the same one every time. */
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
  // The timer of a machine that slept comes late.
  return { document: document !== null && isYoung(document) ? document : null, problem, ask };
};
