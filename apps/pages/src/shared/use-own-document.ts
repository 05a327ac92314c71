/** The service's DID document in a page that stays open: what is shown is never judged by one that is too old. */
import { useCallback, useEffect, useState } from 'preact/hooks';
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

/** Asks by itself only in place of a document that has become too old. `fetchDocument`: the same one every time. */
export const useOwnDocument = (fetchDocument: FetchDocument | null): Use => {
  const [document, setDocument] = useState<OwnDocument | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const ask = useCallback(
    (maxAgeMs?: number) => {
      setProblem(null);
      fetchDocument?.(maxAgeMs).then((next) => {
        setDocument(next);
        setProblem(null);
      }, setProblem);
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
  // The timer of a machine that slept comes late.
  return { document: document !== null && isYoung(document) ? document : null, problem, ask };
};
