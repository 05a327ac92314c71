/** The event subscriptions: which endpoint receives which events, the deliveries, and the buttons of each. */
import { useState } from 'preact/hooks';
import { Problem } from '../../shared/problem.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import type { Subscription } from '../../shared/wire.ts';
import type { ViewProps } from '../view-props.ts';
import { NewSubscription } from './new-subscription.tsx';
import { type Secret, SecretNote } from './secret-note.tsx';
import { SubscriptionCard } from './subscription-card.tsx';
import './events.css';

export const Events = ({ own }: ViewProps) => {
  const { value, problem, reload } = useLoaded(
    async () =>
      (await own.call<{ subscriptions: readonly Subscription[] }>('event-subscriptions')).subscriptions,
    [own],
  );
  const [isAdding, setIsAdding] = useState(false);
  const [secret, setSecret] = useState<Secret | null>(null);
  const isNone = value?.length === 0;
  const show = (made: Secret) => {
    setSecret(made);
    setIsAdding(false);
    reload();
  };
  return (
    <>
      <section class="card" aria-labelledby="events">
        <div class="card-head">
          <h2 id="events">Events</h2>
          {own.mayAct && !isNone && !isAdding && value !== null && (
            <button type="button" class="button button-small" onClick={() => setIsAdding(true)}>
              New subscription
            </button>
          )}
        </div>
        <p class="soft">
          The service tells an endpoint of yours what happens, as it happens: signed, in order, and again
          until it has been taken. See <a href="docs#tag/Events">the reference</a>.
        </p>
        <Problem text={problem} />
        {value === null && problem === null && <p class="soft">Loading …</p>}
        {isNone && !own.mayAct && <p class="empty">Nobody is told of anything yet.</p>}
        {own.mayAct && (isAdding || isNone) && (
          <NewSubscription
            own={own}
            isFirst={isNone}
            onMade={show}
            onUncertain={() => {
              // Keeps the form open, which shows the message, even where this is no longer the first subscription.
              setIsAdding(true);
              reload();
            }}
            onCancel={isNone ? null : () => setIsAdding(false)}
          />
        )}
      </section>
      {secret !== null && <SecretNote secret={secret} onClose={() => setSecret(null)} />}
      {value?.map((one) => (
        <SubscriptionCard
          key={one.subscription_id}
          own={own}
          subscription={one}
          onChanged={reload}
          onDeleted={() => {
            setSecret((shown) => (shown?.subscriptionId === one.subscription_id ? null : shown));
            reload();
          }}
          onSecret={show}
        />
      ))}
    </>
  );
};
