/** The subject of the key, whether it is paused, and the switch that pauses it. */
import { Fragment, type Ref } from 'preact';
import { formatInstant } from '../shared/describe.ts';
import type { Pause } from '../shared/wire.ts';
import { PauseSwitch } from './pause-switch.tsx';
import type { PauseScope, Pauses, Target } from './pauses.ts';
import { PERIODS, type PeriodDays } from './period.ts';
import type { Own, Session } from './session.ts';
import { StateBadge } from './state-badge.tsx';

export interface IdentityProps {
  readonly session: Session;
  /** The heading. */
  readonly landing: Ref<HTMLHeadingElement>;
  readonly pauses: Pauses;
  readonly days: PeriodDays;
  readonly onDays: (days: PeriodDays) => void;
  readonly onLeave: () => void;
}

export const Identity = ({ session, landing, pauses, days, onDays, onLeave }: IdentityProps) => {
  const { title, subject, about, role, own } = session;
  const target = own === null ? null : { scope: scopeOf(own), subject };
  const pause = target === null ? undefined : pauses.find(target);
  return (
    <section class="card identity" aria-label="Whose decisions">
      <div>
        <h2 ref={landing} tabIndex={-1}>
          <Breakable text={title} /> {target !== null && <StateBadge state={pauses.stateOf(target)} />}
        </h2>
        <p class="soft">
          {title !== subject && (
            <>
              <code>{subject}</code> ·{' '}
            </>
          )}
          {about}
        </p>
      </div>
      <div class="row">
        <fieldset class="periods">
          <legend class="unseen">Period</legend>
          {PERIODS.map((one) => (
            <label key={one}>
              <input
                type="radio"
                class="unseen"
                name="period"
                checked={one === days}
                onChange={() => onDays(one)}
              />
              <span>{one} days</span>
            </label>
          ))}
        </fieldset>
        {own !== null && target !== null && (
          <PauseSwitch own={own} pauses={pauses} target={target} {...wordsOf(target)} />
        )}
        <button type="button" class="button button-small" onClick={onLeave}>
          {role === 'playground' ? 'Close' : 'Forget the key'}
        </button>
      </div>
      {pauses.problem !== null && (
        <p class="note note-bad identity-note" role="alert">
          Whether anything is paused could not be read: {pauses.problem}
        </p>
      )}
      {[...(pause === undefined ? [] : [pause]), ...pauses.above].map((one) => (
        <PauseNote key={one.scope} pause={one} />
      ))}
    </section>
  );
};

/** Lets a DID break between its parts, and within a part only where the part is wider than the screen. */
const Breakable = ({ text }: { readonly text: string }) =>
  text.split(/(?<=:)/).map((part, i) => (
    <Fragment key={`${i} ${part}`}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));

const scopeOf = ({ me: { role } }: Own): PauseScope => {
  if (role === 'principal') return 'principal';
  return role === 'rp' ? 'relying_party' : 'org';
};

const wordsOf = ({ scope }: Target): { readonly name: string; readonly stops: string } => {
  switch (scope) {
    case 'relying_party':
      return { name: 'this relying party', stops: 'Whatever it asks is denied.' };
    case 'org':
      return {
        name: 'this org',
        stops: 'Every Grant of its Principals stops, and whatever its relying parties ask is denied.',
      };
    default:
      return { name: 'this Principal', stops: 'No Agent may act under any of its Grants.' };
  }
};

const WHOSE: Readonly<Record<Pause['scope'], string>> = {
  service: 'The whole service is paused by its operator.',
  org: 'The org is paused, with all its members.',
  principal: 'Paused: every request under any of its Grants is denied.',
  relying_party: 'Paused: whatever this relying party asks is denied.',
  grant: '',
  agent: '',
};

const PauseNote = ({ pause: { scope, paused_at: at, reason } }: { readonly pause: Pause }) => (
  <p class="note note-warn identity-note">
    {WHOSE[scope]}{' '}
    {at === null
      ? 'It is recorded, and not yet known to hold on every node: pause again.'
      : `Since ${formatInstant(at)}.`}{' '}
    {reason !== null && `“${reason}”`}
  </p>
);
