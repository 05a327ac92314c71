/** Form for a new subscription: an endpoint and the events that it receives. */
import { useState } from 'preact/hooks';
import { Problem } from '../../shared/problem.tsx';
import { onceOnly, Uncertain } from '../../shared/uncertain.ts';
import { useAct } from '../../shared/use-act.ts';
import type { EventType, SubscriptionCreated } from '../../shared/wire.ts';
import type { Own } from '../session.ts';
import { typesFor } from './event-types.ts';
import type { Secret } from './secret-note.tsx';

export interface NewSubscriptionProps {
  readonly own: Own;
  readonly isFirst: boolean;
  readonly onMade: (secret: Secret) => void;
  /** Called where the answer was lost and a subscription may have been made. */
  readonly onUncertain: () => void;
  readonly onCancel: (() => void) | null;
}

export const NewSubscription = ({ own, isFirst, onMade, onUncertain, onCancel }: NewSubscriptionProps) => {
  const [types, setTypes] = useState<readonly EventType[]>([]);
  const { isBusy, problem, forget, run } = useAct();
  const toggle = (type: EventType) => {
    setTypes(types.includes(type) ? types.filter((one) => one !== type) : [...types, type]);
    forget();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void run(async () => {
      if (types.length === 0) throw new Error('Choose at least one event.');
      const description = String(form.get('description')).trim();
      const percent = form.get('percent');
      const body = {
        url: String(form.get('url')).trim(),
        types,
        ...(description !== '' && { description }),
        ...(percent !== null && { budget_low_percent: Number(percent) }),
      };
      const made = await onceOnly(
        () => own.call<SubscriptionCreated>('event-subscriptions', { body }),
        UNCERTAIN,
      ).catch((error: unknown) => {
        if (error instanceof Uncertain) onUncertain();
        throw error;
      });
      onMade({
        subscriptionId: made.subscription_id,
        url: made.url,
        text: made.secret,
        previousEndsAt: null,
      });
    });
  };
  return (
    <form class="new-subscription" onSubmit={submit} aria-label="New subscription">
      {isFirst && <p class="empty">Nobody is told of anything yet. Name an endpoint to be told.</p>}
      <div class="columns">
        <label class="field">
          <span>Endpoint: https, port 443, a public host</span>
          <input name="url" type="url" required maxLength={2_048} placeholder="https://…/hooks/svc" />
        </label>
        <label class="field">
          <span>What it is for, if you like</span>
          <input name="description" maxLength={100} />
        </label>
      </div>
      <fieldset class="types">
        <legend>Tell it when</legend>
        {typesFor(own.me.role).map(([type, says]) => (
          <label key={type}>
            <input type="checkbox" checked={types.includes(type)} onChange={() => toggle(type)} />
            <span>
              {says} <code>{type}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {types.includes('budget.low') && (
        <label class="field percent">
          <span>Little is left: percent of the total</span>
          <input name="percent" type="number" min={1} max={99} defaultValue={20} required />
        </label>
      )}
      <Problem text={problem} />
      <div class="row">
        <button type="submit" class="button button-main" aria-disabled={isBusy}>
          {isBusy ? 'Subscribing …' : 'Subscribe'}
        </button>
        {onCancel !== null && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
};

const UNCERTAIN =
  'A subscription may have been made all the same, whose secret nobody has seen: if there is one below that you do not know, delete it before you subscribe again.';
