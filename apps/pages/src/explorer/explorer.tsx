/**
 * The transparency log: the chain of days, and the path from one Receipt to the root of its day, recomputed in this
 * tab.
 */

import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { isYoung, type OwnDocument, ownServiceDocument } from '../shared/own-service-document.ts';
import { Problem } from '../shared/problem.tsx';
import { Shell } from '../shared/shell.tsx';
import { useOwnDocument } from '../shared/use-own-document.ts';
import { Chain } from './chain.tsx';
import { check } from './checks.ts';
import { EXAMPLE, EXAMPLE_DOCUMENT, isOfExample, OWN } from './log.ts';
import { LookUp } from './look-up.tsx';
import { usePlace } from './place.ts';
import { Restores } from './restores.tsx';
import './explorer.css';

/**
 * Whether the deployment has a sandbox, as `npm start` does. The page then shows the example as long as no day of the
 * service is closed.
 */
const hasSandbox = (): boolean => document.documentElement.dataset.sandbox === 'on';

/** A look-up is checked under keys that were fetched at most this long before. */
const LOOKED_UP_UNDER_MS = 30_000;

const fetchDocument = async (maxAgeMs?: number): Promise<OwnDocument> => {
  const document = await ownServiceDocument(maxAgeMs);
  await check('document', document.text);
  return document;
};

export const Explorer = () => {
  const place = usePlace();
  const { document: own, problem, ask } = useOwnDocument(fetchDocument);
  const [hasExample, setHasExample] = useState(false);
  useEffect(() => ask(LOOKED_UP_UNDER_MS), [ask, place]);
  const lookUpUnder = useMemo(
    () => (own !== null && isYoung(own, LOOKED_UP_UNDER_MS) ? own.text : null),
    [own, place],
  );
  const onEmpty = useCallback(() => {
    if (hasSandbox()) setHasExample(true);
  }, []);
  const isLookedUpThere = hasExample && place.receipt !== null && isOfExample(place.receipt);
  const shownUnder = own?.text ?? null;
  return (
    <Shell page="transparency">
      <Problem text={problem === null ? null : problemText(problem)} />
      <LookUp
        place={place}
        log={isLookedUpThere ? EXAMPLE : OWN}
        document={isLookedUpThere ? EXAMPLE_DOCUMENT : lookUpUnder}
        isWaiting={problem === null}
        isExample={isLookedUpThere}
      />
      <Restores document={shownUnder} />
      <Chain
        openDay={place.day}
        log={OWN}
        document={shownUnder}
        onEmpty={onEmpty}
        onExample={hasExample ? null : () => setHasExample(true)}
      />
      {hasExample && <Chain openDay={place.day} log={EXAMPLE} document={EXAMPLE_DOCUMENT} isExample />}
    </Shell>
  );
};
