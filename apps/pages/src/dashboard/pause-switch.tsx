/**
 * Pauses one thing and resumes it. Its current state is shown beside the switch, and is "paused" only once the service
 * has answered so.
 */
import { useState } from 'preact/hooks';
import { Confirm } from '../shared/confirm.tsx';
import { Problem } from '../shared/problem.tsx';
import { useAct } from '../shared/use-act.ts';
import { type Pauses, setPaused, type Target } from './pauses.ts';
import type { Own } from './session.ts';

export interface PauseSwitchProps {
  readonly own: Own;
  readonly pauses: Pauses;
  readonly target: Target;
  /** `this Grant`, `Acme`: used in sentences, and as the button's label for screen readers. */
  readonly name: string;
  /** What else the pause stops, where that is much; the switch then asks for confirmation. */
  readonly stops?: string;
}

export const PauseSwitch = ({ own, pauses, target, name, stops }: PauseSwitchProps) => {
  const act = useAct();
  const [isAsking, setIsAsking] = useState(false);
  if (!own.mayAct) return null;
  const isPaused = pauses.find(target) !== undefined;
  const set = (paused: boolean) => async () => {
    await act.run(() => setPaused(own.call, target, paused));
    // Also after a failure: the service may have recorded the change all the same.
    pauses.reload();
  };
  const press = isPaused ? set(false) : stops === undefined ? set(true) : () => setIsAsking(true);
  const [idle, busy] = isPaused ? ['Resume', 'Resuming …'] : ['Pause', 'Pausing …'];
  return (
    <>
      <button
        type="button"
        class={`button button-small ${isPaused ? 'button-main' : ''}`}
        aria-disabled={act.isBusy}
        onClick={() => void press()}
      >
        <span aria-live="polite">{act.isBusy ? busy : idle}</span> <span class="unseen">{name}</span>
      </button>
      <Problem text={act.problem} />
      {isAsking && (
        <Confirm
          title={`Pause ${name}?`}
          verb="Pause"
          busy="Pausing …"
          act={({ reason = '' }) => setPaused(own.call, target, true, reason).finally(pauses.reload)}
          onDone={pauses.reload}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {stops} It takes effect on all nodes before the service answers, and lasts until you resume it.
            Nothing is revoked.
          </p>
          <label class="field">
            <span>Why, if you want it remembered</span>
            <input name="reason" maxLength={500} />
          </label>
        </Confirm>
      )}
    </>
  );
};
