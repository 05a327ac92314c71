/** One request: what the Agent wants, by what it is believed, and the two answers. */
import type { AccessRequest, CheckedAccessRequest, Signer } from '@svc/sdk-principal';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { formatInstant } from '../shared/describe.ts';
import { Resource } from '../shared/resource.tsx';
import type { Act } from './act.ts';
import { checkPublished } from './published-key.ts';
import { SigningKey } from './signing-key.tsx';
import type { BroughtKey } from './vault.ts';
import { describeWish, findForeign, hostingService, nameOf } from './words.ts';

interface Read {
  readonly request: AccessRequest;
  /** Null: it is decided, or not to be believed. */
  readonly checked: CheckedAccessRequest | null;
  readonly doubt: string | null;
}

/** What went wrong, and at which answer; null: at reading the request. */
interface Failure {
  readonly at: 'approve' | 'reject' | null;
  readonly text: string;
}

const LIFETIME_SECONDS = 600;
/** A timer that is set for longer goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const Asked = ({
  id,
  act,
  principal,
}: {
  readonly id: string;
  readonly act: Act;
  readonly principal: string;
}) => {
  const [read, setRead] = useState<Read | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [reason, setReason] = useState('');
  const load = async () => {
    setFailure(null);
    try {
      setRead(await readRequest(act, id));
    } catch (error) {
      setFailure({ at: null, text: problemText(error) });
    }
  };
  useEffect(() => void load(), []);
  useEffect(() => {
    if (read === null || read.request.task.status !== 'pending') return;
    const leftMs = Date.parse(read.request.task.expires_at) - Date.now();
    const timer = setTimeout(load, Math.min(Math.max(1_000, leftMs), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  }, [read]);

  const answer = async (at: 'approve' | 'reject', work: () => Promise<AccessRequest>) => {
    if (isBusy) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const request = await work();
      setRead({ request, checked: null, doubt: null });
    } catch (error) {
      const now = await readRequest(act, id).catch(() => null);
      if (now !== null) setRead(now);
      setFailure({ at, text: problemText(error) });
    }
    setIsBusy(false);
  };
  const approve = (unlock: () => Promise<Signer>) =>
    answer('approve', async () => {
      if (read?.checked == null) throw new Error('Nothing that could be believed was shown.');
      const signer = await unlock();
      if (!signer.kid.startsWith(`${principal}#`))
        throw new Error(
          `This signing key is of ${signer.kid.split('#')[0]}, and ${principal} is asked. Nothing was signed.`,
        );
      return act(signer).approvals.approve(read.request, { lifetimeSeconds: LIFETIME_SECONDS });
    });
  const checkKey =
    ({ receipt }: CheckedAccessRequest) =>
    (brought: BroughtKey) =>
      checkPublished(brought, act, receipt);
  const reject = () =>
    answer('reject', () => act().approvals.reject(id, reason.trim() === '' ? {} : { reason: reason.trim() }));

  const isOpen = read?.request.task.status === 'pending';
  const canBeApproved = isOpen && read.checked !== null;
  const textAt = (at: Failure['at']) => (failure?.at === at ? failure.text : null);
  const hasButton = failure?.at === 'approve' ? canBeApproved : failure?.at === 'reject' && isOpen;
  // Said at the button that failed. Where that is gone it stands above, and the focus brings it into view.
  const isAbove = failure !== null && !hasButton;
  const above = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAbove && failure.at !== null) above.current?.focus();
  }, [failure]);
  return (
    <>
      <p>
        <a href="#all">All that waits</a>
      </p>
      <div ref={above} tabIndex={-1} role="alert">
        {isAbove && <p class="note note-bad">{failure.text}</p>}
      </div>
      {read === null && failure === null && <p class="soft">Asking, and checking …</p>}
      {read !== null && !isOpen && <Decided request={read.request} />}
      {read !== null && isOpen && read.doubt !== null && (
        <section class="card" aria-labelledby="doubt">
          <h2 id="doubt">Do not approve this</h2>
          <p class="note note-bad">{read.doubt}</p>
          <p>
            What the service describes does not agree with what your Agent has signed, so this page does not
            show it and signs nothing. Tell whoever operates the service.
          </p>
        </section>
      )}
      {isOpen && read.checked !== null && (
        <>
          <Wish request={read.request} checked={read.checked} />
          <SigningKey
            principal={principal}
            isBusy={isBusy}
            problem={textAt('approve')}
            check={checkKey(read.checked)}
            onApprove={approve}
            onForgotten={() => setFailure(null)}
          />
        </>
      )}
      {isOpen && (
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
          <div role="alert">
            {textAt('reject') !== null && <p class="note note-bad">{textAt('reject')}</p>}
          </div>
          <div class="row">
            <button type="button" class="button" aria-disabled={isBusy} onClick={() => void reject()}>
              Reject
            </button>
            <p class="soft">The same cannot be asked again for 24 hours.</p>
          </div>
        </section>
      )}
    </>
  );
};

const readRequest = async (act: Act, id: string): Promise<Read> => {
  const { approvals } = act();
  const request = await approvals.get(id);
  if (request.task.status !== 'pending') return { request, checked: null, doubt: null };
  try {
    return { request, checked: await approvals.check(request), doubt: null };
  } catch (error) {
    const { kind } = Object(error) as { kind?: unknown };
    if (kind !== 'receipt-invalid' && kind !== 'invalid-argument') throw error;
    return { request, checked: null, doubt: problemText(error) };
  }
};

const Wish = ({
  request,
  checked: { action, receipt, signedAt },
}: {
  readonly request: AccessRequest;
  readonly checked: CheckedAccessRequest;
}) => {
  const foreign = findForeign(action.resource);
  const host = hostingService(request.relying_party, receipt.receipt);
  return (
    <section class="card" aria-labelledby="wish">
      <h2 id="wish" class="wish">
        May your Agent {describeWish(action)} at <strong>{nameOf(request.relying_party)}</strong>, once?
      </h2>
      {foreign !== null && (
        <p class="note note-warn">
          These characters are not of the Latin keyboard, and may look like others: <code>{foreign}</code>
        </p>
      )}
      <dl class="facts">
        <dt>{action.type === 'api:call' ? 'To which address' : 'For what'}</dt>
        <dd>
          <Resource text={action.resource} />
        </dd>
        {action.type !== 'api:call' && (
          <>
            <dt>The amount as signed</dt>
            <dd>
              <code>{action.amount}</code> in the smallest unit of <code>{action.currency}</code>
            </dd>
          </>
        )}
        <dt>Who asks</dt>
        <dd>
          <code>{request.relying_party}</code>.{' '}
          {host === null
            ? 'It has proven its domain, or this service’s operator has registered it'
            : `A customer of ${host} has chosen this name, and nothing about who that is has been proven`}
        </dd>
        <dt>Your Agent</dt>
        <dd>
          <code>{request.agent}</code>
        </dd>
        <dt>Why it was denied</dt>
        <dd>
          <code>{receipt.reason}</code>, under the Grant <code>{request.grant_id}</code>
        </dd>
        <dt>If you approve</dt>
        <dd>
          you sign a Grant for this Agent, at {nameOf(request.relying_party)} alone, for this and nothing
          else, once, for {LIFETIME_SECONDS / 60} minutes
        </dd>
        <dt>You can answer until</dt>
        <dd>{formatInstant(request.task.expires_at)}</dd>
      </dl>
      <ul class="compared">
        <li>
          Your Agent signed for exactly this, at {formatInstant(signedAt.toISOString())}: its signature was
          checked here.
        </li>
        <li>
          The service denied exactly this: the signature of Receipt{' '}
          <a href={`verify-receipt#jws=${receipt.receipt}`}>{receipt.receipt_id}</a> was checked here, and it
          names that signed text by its hash.
        </li>
        <li>Relying party, Agent, Grant, resource, amount and currency above are read from these two.</li>
      </ul>
    </section>
  );
};

const Decided = ({
  request: { task, result, reason, relying_party },
}: {
  readonly request: AccessRequest;
}) => (
  <section class="card" aria-labelledby="decided">
    <h2 id="decided">{HEADINGS[task.status]}</h2>
    {task.status === 'approved' && result !== null && (
      <p class="note note-good">
        {nameOf(relying_party)} has the Grant <code>{result.grant_id}</code>, which your Agent can use once
        until {formatInstant(result.approved_until)}. Until then you can{' '}
        <a class="plain-link" href="dashboard#view=grants">
          revoke it
        </a>
        .
      </p>
    )}
    {task.status === 'denied' && (
      <p>{reason === null ? 'No reason was given.' : `The reason given: ${reason}`}</p>
    )}
    {task.status === 'expired' && (
      <p>Nobody answered in time. If it is still wanted, the relying party asks again.</p>
    )}
    {task.status === 'cancelled' && <p>The relying party does not need it any more.</p>}
  </section>
);

const HEADINGS: Readonly<Record<AccessRequest['task']['status'], string>> = {
  pending: 'It waits',
  approved: 'Approved',
  denied: 'Rejected',
  expired: 'Expired',
  cancelled: 'Taken back',
};
