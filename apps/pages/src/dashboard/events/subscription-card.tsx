/** One subscription: its state, its events, its deliveries, and the acts on it. */
import { useState } from 'preact/hooks';
import { ApiProblem } from '../../shared/api.ts';
import { Confirm } from '../../shared/confirm.tsx';
import { formatInstant } from '../../shared/describe.ts';
import { Problem } from '../../shared/problem.tsx';
import { onceOnly, Uncertain } from '../../shared/uncertain.ts';
import { useAct } from '../../shared/use-act.ts';
import type { SecretRotated, Subscription } from '../../shared/wire.ts';
import type { Own } from '../session.ts';
import { StateBadge } from '../state-badge.tsx';
import { Deliveries } from './deliveries.tsx';
import { Replay } from './replay.tsx';
import type { Secret } from './secret-note.tsx';

export interface SubscriptionCardProps {
  readonly own: Own;
  readonly subscription: Subscription;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
  readonly onSecret: (secret: Secret) => void;
}

type Asking = 'delete' | 'rotate' | 'replay' | null;

export const SubscriptionCard = ({
  own,
  subscription: one,
  onChanged,
  onDeleted,
  onSecret,
}: SubscriptionCardProps) => {
  const [asking, setAsking] = useState<Asking>(null);
  /** Increased when there may be a new delivery to show. */
  const [sent, setSent] = useState(0);
  /** True while the subscription is being deleted: nothing about it is loaded any more. */
  const [isGone, setIsGone] = useState(false);
  /** The answer to the latest rotation was lost. The rotation may have been made, whatever the list shows. */
  const [isUncertain, setIsUncertain] = useState(false);
  const { isBusy, problem, run } = useAct();
  const path = `event-subscriptions/${one.subscription_id}`;
  const isDisabled = one.state === 'disabled';
  const close = () => setAsking(null);
  const act = (verb: string) => () =>
    void run(() => own.call(`${path}/${verb}`, { body: null })).then((isDone) => {
      if (isDone && verb === 'test') setSent(sent + 1);
      onChanged();
    });
  const rotate = async () => {
    const made = await onceOnly(
      () => own.call<SecretRotated>(`${path}/rotate`, { body: null }),
      UNCERTAIN_ROTATION,
    ).catch((error: unknown) => {
      if (error instanceof Uncertain) {
        setIsUncertain(true);
        onChanged();
      }
      throw error;
    });
    setIsUncertain(false);
    onSecret({
      subscriptionId: one.subscription_id,
      url: one.url,
      text: made.secret,
      previousEndsAt: made.previous_ends_at,
    });
  };
  const remove = async () => {
    setIsGone(true);
    try {
      await own.call(`${path}/delete`, { body: null });
    } catch (error) {
      // It is already gone: deleted by an attempt whose answer was lost, or by somebody else.
      if (error instanceof ApiProblem && error.status === 404) return;
      setIsGone(false);
      throw error;
    }
  };
  const onReplayed = () => {
    setSent(sent + 1);
    onChanged();
  };
  return (
    <section class="card" aria-label={one.url}>
      <header class="subscription-head">
        <h3>
          <code>{one.url}</code> <StateBadge state={one.state} />
        </h3>
        {one.description !== null && <p class="soft">{one.description}</p>}
        <Health subscription={one} />
        <ul class="chips" aria-label="Told of">
          {one.types.map((type) => (
            <li key={type}>
              <code>{type}</code>
              {type === 'budget.low' && ` at ${one.budget_low_percent} %`}
            </li>
          ))}
        </ul>
      </header>
      <Problem text={problem} />
      {own.mayAct && <Acts isBusy={isBusy} isDisabled={isDisabled} act={act} onAsk={setAsking} />}
      {!isGone && <Deliveries own={own} path={path} sent={sent} />}
      {asking === 'replay' && <Replay own={own} path={path} onDone={onReplayed} onClose={close} />}
      {asking === 'rotate' && (
        <ConfirmRotation
          isUncertain={isUncertain}
          earlierEndsAt={earlierEndOf(one)}
          act={rotate}
          onClose={close}
        />
      )}
      {asking === 'delete' && (
        <ConfirmDeletion url={one.url} act={remove} onDone={onDeleted} onClose={close} />
      )}
    </section>
  );
};

/** The buttons. A replay, a rotation and a deletion ask for confirmation. */
const Acts = ({
  isBusy,
  isDisabled,
  act,
  onAsk,
}: {
  readonly isBusy: boolean;
  readonly isDisabled: boolean;
  readonly act: (verb: string) => () => void;
  readonly onAsk: (asking: Asking) => void;
}) => (
  <div class="subscription-acts">
    <div class="row">
      <button
        type="button"
        class="button button-small"
        aria-disabled={isBusy || isDisabled}
        onClick={isDisabled ? undefined : act('test')}
      >
        Send a test
      </button>
      <button type="button" class="button button-small" onClick={() => onAsk('replay')}>
        Replay …
      </button>
      <button type="button" class="button button-small" onClick={() => onAsk('rotate')}>
        Rotate the secret …
      </button>
      <button
        type="button"
        class={`button button-small ${isDisabled ? 'button-main' : ''}`}
        aria-disabled={isBusy}
        onClick={act(isDisabled ? 'enable' : 'disable')}
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </button>
    </div>
    <button type="button" class="button button-small button-harm" onClick={() => onAsk('delete')}>
      Delete …
    </button>
  </div>
);

const UNCERTAIN_ROTATION =
  'A new secret may have been made which nobody has seen. The one in use is then in force for 24 hours more, and rotating again would end it at once. Subscribe the endpoint anew, give it that secret, and then delete this subscription; or rotate again when the 24 hours are over.';

/** When the secret before the latest rotation expires; null where it has expired or there was none. */
const earlierEndOf = ({ secrets }: Subscription): string | null =>
  secrets.find(({ ends_at: endsAt }) => endsAt !== null)?.ends_at ?? null;

const ConfirmRotation = ({
  isUncertain,
  earlierEndsAt,
  act,
  onClose,
}: {
  readonly isUncertain: boolean;
  readonly earlierEndsAt: string | null;
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
}) => (
  <Confirm
    title="Rotate the secret?"
    verb="Rotate"
    busy="Rotating …"
    act={act}
    onDone={() => {}}
    onClose={onClose}
  >
    <p>
      A new secret is made and shown once. For 24 hours events are signed with both, so that your endpoint can
      be given the new one in the meantime. One from an earlier rotation ends at once.
    </p>
    {isUncertain && (
      <p class="note note-warn">
        The latest rotation was not answered, and may have been made. Another{' '}
        <strong>would then end at once</strong> the secret that your endpoint has.
      </p>
    )}
    {earlierEndsAt !== null && (
      <p class="note note-warn">
        It was rotated already: the secret from before that is in force until {formatInstant(earlierEndsAt)},
        and <strong>would end at once</strong>. Rotate only if your endpoint has the later one.
      </p>
    )}
  </Confirm>
);

const ConfirmDeletion = ({
  url,
  act,
  onDone,
  onClose,
}: {
  readonly url: string;
  readonly act: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) => (
  <Confirm
    title="Delete this subscription?"
    verb="Delete"
    busy="Deleting …"
    isDangerous
    act={act}
    onDone={onDone}
    onClose={onClose}
  >
    <p>
      Nothing more is sent to <code>{url}</code>. Its deliveries, what waits for it and its secrets are gone.{' '}
      <strong>This cannot be undone.</strong> To stop it for a while, disable it: then events are kept for 30
      days.
    </p>
  </Confirm>
);

const BECAUSE = {
  owner: 'Disabled by its owner.',
  failing: 'Disabled since it failed for five days.',
  gone: 'Disabled since it answered 410.',
} as const;

const Health = ({ subscription: one }: { readonly subscription: Subscription }) => {
  const waiting = one.waiting === 0 ? '' : ` ${one.waiting.toLocaleString('en')} waiting.`;
  const earlierEndsAt = earlierEndOf(one);
  const made = (
    <p class="soft">
      Since {formatInstant(one.created_at)}
      {one.created_by !== null && (
        <>
          , made with API key <code>{one.created_by}</code>
        </>
      )}
      .{one.state === 'active' && waiting}
      {earlierEndsAt !== null &&
        ` Its secret was rotated: the one before is in force until ${formatInstant(earlierEndsAt)}.`}
    </p>
  );
  if (one.state === 'active') return made;
  const why =
    one.state === 'disabled'
      ? `${BECAUSE[one.disabled_because ?? 'owner']} What happens meanwhile is kept for 30 days.`
      : `Failing${one.failing_since === null ? '' : ` since ${formatInstant(one.failing_since)}`}; it is tried again.`;
  return (
    <>
      <p class="note note-warn">
        {why}
        {waiting} {one.last_problem !== null && `The latest attempt: ${one.last_problem}`}
      </p>
      {made}
    </>
  );
};
