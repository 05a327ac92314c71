/** The story of one approval, step by step. One button advances it, and stays under the focus. */

import type { Capability } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Authority } from '../shared/authority.tsx';
import { DecisionBadge } from '../shared/badge.tsx';
import { formatAmount } from '../shared/describe.ts';
import { Problem } from '../shared/problem.tsx';
import type { DemoInfo } from '../shared/wire.ts';
import { limitOf } from './scenarios.ts';
import { STEPS, type StoryState, storyAmount, whyDenied } from './story.ts';
import './story.css';

/** Label of the button at each step. */
const NEXT = [
  'Buy above the limit',
  'Ask the Principal',
  'Approve as the Principal',
  'Come with the new Grant',
  'Come once more',
] as const;

export const Story = ({
  info,
  findInfo,
}: {
  readonly info: DemoInfo | null;
  /** Null while the page is starting: nothing can be pressed. */
  readonly findInfo: (() => Promise<DemoInfo>) | null;
}) => {
  const [told, setTold] = useState<StoryState>({});
  const [step, setStep] = useState(0);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isOver = step === STEPS.length;

  const goOn = async () => {
    const next = STEPS[isOver ? 0 : step];
    if (findInfo === null || isBusy || next === undefined) return;
    setIsBusy(true);
    setProblem(null);
    try {
      setTold(await next(isOver ? {} : told, await findInfo()));
      setStep(isOver ? 1 : step + 1);
    } catch (error) {
      setProblem(problemText(error));
    }
    setIsBusy(false);
  };
  const startOver = () => {
    setTold({});
    setStep(0);
    setProblem(null);
  };

  return (
    <section class="card" aria-labelledby="story">
      <div class="card-head">
        <h2 id="story">Or ask first</h2>
        <p>a denial that its Principal approves, once</p>
      </div>
      <ol class="story" aria-live="polite">
        <Steps told={told} info={info} />
      </ol>
      <Problem text={problem} />
      <div class="row">
        <button
          type="button"
          class="button button-main"
          aria-disabled={findInfo === null || isBusy}
          onClick={() => void goOn()}
        >
          {isBusy ? 'Asking …' : (NEXT[step] ?? 'Play it again')}
        </button>
        {problem !== null && step > 0 && (
          <button type="button" class="button" onClick={startOver}>
            Start over
          </button>
        )}
      </div>
    </section>
  );
};

const Steps = ({ told, info }: { readonly told: StoryState; readonly info: DemoInfo | null }) => {
  const { denied, asked, approved, allowed, usedUp } = told;
  const { maxAmount, currency } = limitOf(info);
  return (
    <>
      {denied !== undefined && (
        <Decision title="The Agent buys above the limit" receipt={denied.receipt}>
          It signed for {formatAmount(storyAmount(info), currency)}; its Grant goes up to{' '}
          {formatAmount(maxAmount, currency)}.
        </Decision>
      )}
      {asked !== undefined && (
        <Step title="The shop asks the Principal" word={asked.task.status} answer={asked}>
          It names the denial. What the Principal would sign follows from that:{' '}
          <Authority of={asked.capability as Capability} />.
        </Step>
      )}
      {approved !== undefined && (
        <Step
          title="You approve as the Principal"
          word={approved.request.task.status}
          isGood
          answer={approved}
        >
          Approving is signing a new Grant, for this purchase alone. Here the service signs it, because the
          sandbox’s Principal is its own. For any other Principal it cannot: a person does this on{' '}
          <a href="approve">the page for approvals</a>, with a key that the service never has.
        </Step>
      )}
      {allowed !== undefined && (
        <Decision title="The Agent comes with the new Grant" receipt={allowed}>
          It signed a new Proof, and all 24 checks ran again.
        </Decision>
      )}
      {usedUp !== undefined && (
        <Decision title="The Agent comes once more" receipt={usedUp} isWithinAmount>
          The Proof is new, but the Grant was for one use, and that is used up.
        </Decision>
      )}
    </>
  );
};

interface StepProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const Decision = ({
  title,
  receipt,
  isWithinAmount = false,
  children,
}: StepProps & { readonly receipt: Receipt; readonly isWithinAmount?: boolean }) => {
  const { decision, reason } = receipt;
  return (
    <li class={`decided-box decided-${decision.toLowerCase()}`}>
      <h3>{title}</h3>
      <p class="decided-word">
        <DecisionBadge decision={decision} /> {reason !== null && <code>{reason}</code>}
      </p>
      <p>{children}</p>
      {reason !== null && <p class="soft">{whyDenied(reason, isWithinAmount)}</p>}
      <p>
        <a href={`verify-receipt#jws=${receipt.receipt}`}>Verify this Receipt</a>
      </p>
      <Answer of={title} answer={receipt} />
    </li>
  );
};

const Step = ({
  title,
  word,
  isGood = false,
  answer,
  children,
}: StepProps & { readonly word: string; readonly isGood?: boolean; readonly answer: object }) => (
  <li class={isGood ? 'decided-box' : 'decided-box decided-open'}>
    <h3>{title}</h3>
    <p class="decided-word">
      <span class={`badge badge-${isGood ? 'good' : 'idle'}`}>{word}</span>
    </p>
    <p>{children}</p>
    <Answer of={title} answer={answer} />
  </li>
);

const Answer = ({ of, answer }: { readonly of: string; readonly answer: object }) => (
  <details class="plain-details">
    <summary>See the answer</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <section class="code" tabIndex={0} aria-label={`${of}: the answer`}>
      <pre>{JSON.stringify(answer, null, 2)}</pre>
    </section>
  </details>
);
