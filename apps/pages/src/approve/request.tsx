/** The page of one request: what the Agent wants, the evidence for it, and the two answers. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Alert } from '../shared/problem.tsx';
import type { Act } from './act.ts';
import { SigningKey } from './signing-key.tsx';
import { type Doubt, type Failure, useRequest } from './use-request.ts';
import { Decided, Wish } from './wish.tsx';

export const RequestView = ({
  id,
  act,
  principal,
}: {
  readonly id: string;
  readonly act: Act;
  readonly principal: string;
}) => {
  const { read, failure, isBusy, approve, reject, checkKey, lookAgain, forgetFailure } = useRequest(
    id,
    act,
    principal,
  );
  const isOpen = read?.request.task.status === 'pending';
  const canBeApproved = isOpen && read.checked !== null;
  const textAt = (at: Failure['at']) => (failure?.at === at ? failure.text : null);
  const hasButton = failure?.at === 'approve' ? canBeApproved : failure?.at === 'reject' && isOpen;
  // A failure is shown at the button that failed. Where that button is gone, it is shown above, and focus moves there.
  const isAbove = failure !== null && !hasButton;
  const above = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAbove && failure.at !== null) above.current?.focus();
  }, [failure]);
  return (
    <>
      <div class="row">
        <a href="#all">All that waits</a>
        <button type="button" class="button button-quiet" onClick={lookAgain}>
          Look again
        </button>
      </div>
      <div ref={above} tabIndex={-1} role="alert">
        {isAbove && <p class="note note-bad">{failure.text}</p>}
      </div>
      {read === null && failure === null && <p class="soft">Asking, and checking …</p>}
      {read !== null && !isOpen && <Decided request={read.request} />}
      {read !== null && isOpen && read.doubt !== null && <InDoubt doubt={read.doubt} />}
      {isOpen && read.checked !== null && (
        <>
          <Wish request={read.request} checked={read.checked} />
          <SigningKey
            principal={principal}
            isBusy={isBusy}
            problem={textAt('approve')}
            check={checkKey(read.checked)}
            onApprove={approve}
            onForgotten={forgetFailure}
          />
        </>
      )}
      {isOpen && <Reject isBusy={isBusy} problem={textAt('reject')} onReject={reject} />}
    </>
  );
};

const InDoubt = ({ doubt: { isOfClock, text } }: { readonly doubt: Doubt }) => (
  <section class="card" aria-labelledby="doubt">
    <h2 id="doubt">{isOfClock ? 'Look at the clock of this computer' : 'Do not approve this'}</h2>
    <p class="note note-bad">{text}</p>
    {isOfClock ? (
      <p>By this clock, this page cannot tell an old request that is shown again from a new one.</p>
    ) : (
      <p>
        What the service describes does not agree with what your Agent has signed, so this page does not show
        it and signs nothing. Tell whoever operates the service.
      </p>
    )}
  </section>
);

const Reject = ({
  isBusy,
  problem,
  onReject,
}: {
  readonly isBusy: boolean;
  readonly problem: string | null;
  readonly onReject: (reason: string) => Promise<void>;
}) => {
  const [reason, setReason] = useState('');
  return (
    <section class="card" aria-labelledby="no">
      <h2 id="no">Say no</h2>
      <label class="field">
        <span>Why (the relying party reads it; may be empty)</span>
        <input
          type="text"
          maxLength={500}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <Alert text={problem} />
      <div class="row">
        <button
          type="button"
          class="button"
          aria-disabled={isBusy}
          onClick={() => void onReject(reason.trim())}
        >
          Reject
        </button>
        <p class="soft">The same cannot be asked again for 24 hours.</p>
      </div>
    </section>
  );
};
