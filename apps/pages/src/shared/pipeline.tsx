/**
 * The checks of a profile in the order in which the request passes them. A track shows how far it got; under it stands
 * every check with its meaning and, where it failed, the reason. `lit` lights only that number of checks, for a page
 * that animates them.
 */
import { type AnyCheck, type CheckId, REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import { checksRunBy, meaningOf, stagesOf } from './check-meanings.ts';
import { Icon } from './icons.tsx';
import './pipeline.css';

export type Outcome = boolean | 'skipped';
export type Outcomes = Readonly<Record<string, Outcome>>;

type State = 'ok' | 'wrong' | 'idle' | 'waiting';

const WORDS: Readonly<Record<State, string>> = {
  ok: 'passed',
  wrong: 'failed',
  idle: 'skipped',
  waiting: 'not run yet',
};

const stateOf = (outcome: Outcome | undefined): State => {
  if (outcome === undefined) return 'waiting';
  if (outcome === 'skipped') return 'idle';
  return outcome ? 'ok' : 'wrong';
};

export interface PipelineProps {
  /** By check id; a check that is missing has not run. */
  readonly outcomes: Outcomes;
  readonly reason: ReasonCode | null;
  /** The profile of the Receipt, if there is one. */
  readonly profile: string | undefined;
  readonly lit?: number;
}

export const Pipeline = ({ outcomes, reason, profile, lit }: PipelineProps) => {
  const checks = checksRunBy(profile);
  const stages = stagesOf(checks.map(({ id }) => id));
  const shown = new Map(checks.slice(0, lit).map(({ id }) => [id, outcomes[id]]));
  const stateFor = (id: CheckId): State => stateOf(shown.get(id));
  const first = checks.find(({ id }) => outcomes[id] === false)?.id;
  return (
    <div class="pipeline">
      <div class="track" aria-hidden="true">
        {stages.map(({ name, ids }) => (
          <span key={name} class="track-stage" style={{ flexGrow: ids.length }}>
            {ids.map((id) => (
              <i key={id} class={`dot dot-${stateFor(id)}`} title={`${id} ${meaningOf(id).name}`} />
            ))}
          </span>
        ))}
      </div>
      <div class="stages">
        {stages.map(({ name, ids }) => (
          <section key={name} class="stage" aria-label={name}>
            <h3>{name}</h3>
            <ol>
              {ids.map((id) => (
                <CheckRow
                  key={id}
                  check={checks.find((one) => one.id === id)}
                  id={id}
                  state={stateFor(id)}
                  reason={id === first ? reason : null}
                  outcomes={outcomes}
                />
              ))}
            </ol>
          </section>
        ))}
      </div>
    </div>
  );
};

const CheckRow = ({
  check,
  id,
  state,
  reason,
  outcomes,
}: {
  readonly check: AnyCheck | undefined;
  readonly id: CheckId;
  readonly state: State;
  readonly reason: ReasonCode | null;
  readonly outcomes: Outcomes;
}) => {
  const { name, means } = meaningOf(id);
  const missing = check?.requires.filter((required) => outcomes[required] !== true) ?? [];
  return (
    <li>
      <details class={`check check-${state}`} open={state === 'wrong'}>
        <summary>
          <Icon of={state} />
          <code class="check-id">{id}</code>
          <span class="check-name">{name}</span>
          <span class="unseen">{WORDS[state]}</span>
        </summary>
        <div class="check-more">
          <p>{means}</p>
          {state === 'wrong' && <Why reasons={reason === null ? (check?.reasons ?? []) : [reason]} />}
          {state === 'idle' && <p class="check-why-idle">{whySkipped(missing)}</p>}
          <p class="check-rule">
            True when {check?.title}. Written in: {check?.cites.join(', ')}.
          </p>
        </div>
      </details>
    </li>
  );
};

const Why = ({ reasons }: { readonly reasons: readonly ReasonCode[] }) => (
  <p class="check-why">
    <strong>Why it failed.</strong>{' '}
    {reasons.map((reason, i) => (
      <span key={reason}>
        {i > 0 && ' Or: '}
        {REASON_TEXTS[reason]} <code>{reason}</code>
      </span>
    ))}
  </p>
);

const MAX_NAMED = 4;

const whySkipped = (missing: readonly CheckId[]): string => {
  if (missing.length === 0) return 'Skipped: what it had to look up could not be reached.';
  const named = missing.slice(0, MAX_NAMED).join(', ');
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  return `Skipped: it builds on ${named}${more}, which did not pass.`;
};
