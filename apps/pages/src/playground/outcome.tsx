/** The result of a run: the checks lighting up in order, the decision, what was sent, and the Receipt. */
import { REASON_TEXTS } from '@svc/protocol';
import { useEffect, useState } from 'preact/hooks';
import { DecisionBadge } from '../shared/badge.tsx';
import { checksRunBy } from '../shared/check-meanings.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { Pipeline } from '../shared/pipeline.tsx';
import { countOutcomes, DecisionCard, outcomesOf, SignedTextCard } from '../shared/receipt-view.tsx';
import { verifyOwnReceipt } from '../shared/verify-own-receipt.ts';
import { CHEATS, type Run } from './scenarios.ts';

const STEP_MS = 55;

export const Outcome = ({ run, isAsking }: { readonly run: Run | null; readonly isAsking: boolean }) => {
  const total = checksRunBy(run?.receipt.protocol.profile).length;
  const lit = useLit(run, total);
  const isOver = run !== null && lit >= total;
  return (
    <>
      <section class="card" aria-labelledby="checks">
        <div class="card-head">
          <h2 id="checks">The 24 checks</h2>
          <p>{isAsking ? 'Asking …' : describeProgress(run, lit, total)}</p>
        </div>
        <div role="status" class="decided">
          {isOver && <Decided run={run} />}
        </div>
        <Pipeline
          outcomes={run === null ? {} : outcomesOf(run.receipt)}
          reason={run?.receipt.reason ?? null}
          profile={run?.receipt.protocol.profile}
          lit={lit}
        />
      </section>
      {isOver && <Details run={run} />}
    </>
  );
};

const describeProgress = (run: Run | null, lit: number, total: number): string => {
  if (run === null) return 'Each is explained; open one';
  return lit < total ? `${lit} of ${total}` : countOutcomes(run.receipt);
};

const Decided = ({ run: { receipt, scenario } }: { readonly run: Run }) => {
  const { decision, reason } = receipt;
  const teaches = CHEATS.find(({ id }) => id === scenario)?.teaches;
  return (
    <div class={`decided-box decided-${decision.toLowerCase()}`}>
      <p class="decided-word">
        <DecisionBadge decision={decision} /> {reason !== null && <code>{reason}</code>}
      </p>
      <p>
        {reason === null
          ? 'Every check passed. The shop may go ahead, and holds a signed Receipt for it.'
          : REASON_TEXTS[reason]}
      </p>
      {teaches !== undefined && <p class="soft">{teaches}</p>}
    </div>
  );
};

const Details = ({ run }: { readonly run: Run }) => {
  const { receipt, steps } = run;
  const proven = useProven(run);
  return (
    <>
      <section class="card" aria-labelledby="happened">
        <div class="card-head">
          <h2 id="happened">What happened</h2>
          <p>
            <a href={`verify-receipt#jws=${receipt.receipt}`}>Verify the Receipt part by part</a>
            {' · '}
            <a href="dashboard#playground">See it in the dashboard</a>
          </p>
        </div>
        <ol class="steps">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
          <li>
            The service signed its answer
            {proven === null
              ? '.'
              : proven
                ? ', and this tab has checked the signature.'
                : ', which does not verify here.'}
          </li>
        </ol>
        <Snippets run={run} />
      </section>
      <DecisionCard receipt={receipt} proven={proven === true} />
      <SignedTextCard jws={receipt.receipt} proven={proven === true} />
    </>
  );
};

/** The code is loaded after the page, with the first run. */
const Snippets = ({ run }: { readonly run: Run }) => {
  const [made, setMade] = useState<typeof import('./snippets.ts') | null>(null);
  useEffect(() => {
    import('./snippets.ts').then(setMade, () => {});
  }, []);
  if (made === null) return null;
  const base = new URL('.', location.href).href;
  const curl = made.asCurl(run, base);
  const typeScript = made.asTypeScript(run, base);
  return (
    <>
      <div class="row">
        <CopyButton text={curl} label="Copy as curl" />
        <CopyButton text={typeScript} label="Copy as TypeScript" />
      </div>
      <Snippet name="curl" text={curl} />
      <Snippet name="TypeScript" text={typeScript} />
    </>
  );
};

const Snippet = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <details class="plain-details">
    <summary>See it as {name}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <section class="code" tabIndex={0} aria-label={name}>
      <pre>{text}</pre>
    </section>
  </details>
);

/** Number of checks that are lit: one after the other, or all at once where the user prefers reduced motion. */
const useLit = (run: Run | null, total: number): number => {
  const [lit, setLit] = useState<number>(total);
  useEffect(() => {
    if (run === null || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setLit(total);
      return;
    }
    setLit(0);
    const timer = setInterval(
      () =>
        setLit((before) => {
          if (before + 1 >= total) clearInterval(timer);
          return before + 1;
        }),
      STEP_MS,
    );
    return () => clearInterval(timer);
  }, [run, total]);
  return lit;
};

/** Whether the Receipt of a run is genuine; null while that is not known. */
const useProven = (run: Run): boolean | null => {
  const [proven, setProven] = useState<boolean | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setProven(null);
    verifyOwnReceipt(run.receipt).then(
      (failures) => isCurrent && setProven(failures.length === 0),
      () => isCurrent && setProven(false),
    );
    return () => {
      isCurrent = false;
    };
  }, [run]);
  return proven;
};
