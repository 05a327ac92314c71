/** The transparency log: the chain of days, and the way from one Receipt to the root of its day, recomputed here. */

import { useCallback, useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { ownServiceDocument } from '../shared/own-service-document.ts';
import { Problem } from '../shared/problem.tsx';
import { Shell } from '../shared/shell.tsx';
import { Chain } from './chain.tsx';
import { check } from './checks.ts';
import { EXAMPLE, isOfExample, type Log, logOf } from './log.ts';
import { LookUp } from './look-up.tsx';
import { usePlace } from './place.ts';
import { Restores } from './restores.tsx';
import './explorer.css';

/** A sandbox, such as `npm start` has one, shows the example by itself as long as no day of its own is closed. */
const hasSandbox = (): boolean => document.documentElement.dataset.sandbox === 'on';

/** What is looked up is checked under keys no older than this. */
const DOCUMENT_USED_FOR_MS = 30_000;

/** `before` while the service's document is still the same. */
const readOwnLog = async (before: Log | null): Promise<Log> => {
  const document = await ownServiceDocument(DOCUMENT_USED_FOR_MS);
  if (before?.document === document) return before;
  await check('document', document);
  return logOf(document);
};

export const Explorer = () => {
  const place = usePlace();
  const [own, setOwn] = useState<Log | null>(null);
  const [hasExample, setHasExample] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const show = (log: Log | null, failed: string | null) => {
      if (!isCurrent) return;
      setOwn(log);
      setProblem(failed);
    };
    readOwnLog(own).then(
      (log) => show(log, null),
      (error) => show(null, problemText(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [place]);
  const onEmpty = useCallback(() => {
    if (hasSandbox()) setHasExample(true);
  }, []);
  const isLookedUpThere = hasExample && place.receipt !== null && isOfExample(place.receipt);
  return (
    <Shell page="transparency">
      <Problem text={problem} />
      <LookUp receiptId={place.receipt} log={isLookedUpThere ? EXAMPLE : own} isExample={isLookedUpThere} />
      {own !== null && <Restores document={own.document} />}
      {problem === null && (
        <Chain
          openDay={place.day}
          log={own}
          onEmpty={onEmpty}
          onExample={hasExample ? null : () => setHasExample(true)}
        />
      )}
      {hasExample && <Chain openDay={place.day} log={EXAMPLE} isExample />}
    </Shell>
  );
};
