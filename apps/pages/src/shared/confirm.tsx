/**
 * Asks for confirmation before an act that reaches far or cannot be undone. Escape never acts, and neither does Enter
 * on the element that has the focus first: that is Cancel, even where there is a field in which Enter would submit.
 * While the act is under way the dialog stays open, since its result is shown only there.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Problem } from './problem.tsx';
import { useAct } from './use-act.ts';
import './confirm.css';

export interface ConfirmProps {
  readonly title: string;
  /** Explains the consequences. */
  readonly children: ComponentChildren;
  /** Label of the button that acts. */
  readonly verb: string;
  readonly busy: string;
  readonly isDangerous?: boolean;
  /** Receives the answers of the form, by name. The dialog shows the message of a rejection. */
  readonly act: (answers: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export const Confirm = ({
  title,
  children,
  verb,
  busy,
  isDangerous = false,
  act,
  onDone,
  onClose,
}: ConfirmProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const { isBusy, problem, isUncertain, run } = useAct();
  useEffect(() => dialog.current?.showModal(), []);
  // Also once it is the only button left.
  useEffect(() => cancel.current?.focus(), [isUncertain]);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isUncertain) return;
    const answers = Object.fromEntries(
      [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value)]),
    );
    if (!(await run(() => act(answers)))) return;
    onDone();
    dialog.current?.close();
  };
  return (
    <dialog
      ref={dialog}
      class="confirm"
      // In some browsers a second Escape closes a dialog that refused the first, unless it has this attribute. Other
      // browsers do not support the attribute.
      closedby={isBusy ? 'none' : 'closerequest'}
      onCancel={(event) => isBusy && event.preventDefault()}
      onClose={onClose}
      aria-labelledby="confirm-title"
    >
      <form class="confirm-inner" onSubmit={(event) => void submit(event)}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        <Problem text={problem} />
        <div class="confirm-row">
          <button
            ref={cancel}
            type="button"
            class="button"
            aria-disabled={isBusy}
            onClick={isBusy ? undefined : () => dialog.current?.close()}
          >
            {isUncertain ? 'Close' : 'Cancel'}
          </button>
          {!isUncertain && (
            <button
              type="submit"
              class={`button ${isDangerous ? 'button-danger' : 'button-main'}`}
              aria-disabled={isBusy}
            >
              {isBusy ? busy : problem === null ? verb : 'Try again'}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
};
