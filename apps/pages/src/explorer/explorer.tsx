/** The transparency log: the chain of days, and the way from one Receipt to the root of its day, recomputed here. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Shell } from '../shared/shell.tsx';
import { ownServiceDocument } from '../shared/verify-own-receipt.ts';
import { Chain } from './chain.tsx';
import { readService } from './check-day.ts';
import { exampleLog, type Log, logOf } from './log.ts';
import { LookUp } from './look-up.tsx';
import { leavePlace, usePlace } from './place.ts';
import { Restores } from './restores.tsx';
import './explorer.css';

export const Explorer = () => {
  const place = usePlace();
  const [own, setOwn] = useState<Log | null>(null);
  const [example, setExample] = useState<Log | null>(null);
  const log = example ?? own;
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    ownServiceDocument().then(
      (text) => setOwn(logOf(readService(text))),
      (error) => setProblem(problemText(error)),
    );
  }, []);
  return (
    <Shell page="transparency">
      {problem !== null && (
        <p class="note note-bad" role="alert">
          {problem}
        </p>
      )}
      {example !== null && (
        <div class="note note-warn row" role="status">
          <p>
            An example: its roots and signatures are sound and are checked here, its service does not exist.
          </p>
          <button
            type="button"
            class="button button-quiet"
            onClick={() => leavePlace(() => setExample(null))}
          >
            Back to this service
          </button>
        </div>
      )}
      {log !== null && (
        <>
          <LookUp receiptId={place.receipt} log={log} />
          {example === null && <Restores service={log.service} />}
          <Chain
            openDay={place.day}
            log={log}
            onExample={example === null ? () => setExample(exampleLog()) : null}
          />
        </>
      )}
    </Shell>
  );
};
