/** Asks for an API key. A text that cannot be the key is refused here and not sent. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import './key-form.css';

export interface KeyFormProps {
  readonly label: string;
  readonly placeholder: string;
  /** Null where the text may be a key; otherwise what is wrong with it. */
  readonly findFault: (key: string) => string | null;
  readonly onKey: (key: string) => Promise<void>;
  readonly problem: string | null;
  readonly isOpening: boolean;
  readonly verb?: string;
  /** What stands beside the button. */
  readonly children: ComponentChildren;
  /** What stands below. */
  readonly more?: ComponentChildren;
  readonly id?: string;
  readonly isBusy?: boolean;
}

export const KeyForm = ({
  label,
  placeholder,
  findFault,
  onKey,
  problem,
  isOpening,
  verb = 'Open',
  children,
  more,
  id,
  isBusy = false,
}: KeyFormProps) => {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fault = findFault(key.trim());
    setRefused(fault);
    if (fault === null && !isOpening) void onKey(key.trim());
  };
  const shown = refused ?? problem;
  return (
    <form id={id} class="card key-form" aria-busy={isBusy} onSubmit={submit}>
      <label class="field">
        <span>{label}</span>
        <input
          type="password"
          name="key"
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          value={key}
          aria-invalid={shown !== null}
          aria-describedby="key-problem"
          onInput={(event) => {
            setKey(event.currentTarget.value);
            setRefused(null);
          }}
        />
      </label>
      <div id="key-problem" role="alert" class="key-problem">
        {shown !== null && <p class="note note-bad">{shown}</p>}
      </div>
      <div class="row">
        <button type="submit" class="button button-main" aria-disabled={isOpening}>
          {isOpening ? 'Opening …' : verb}
        </button>
        {children}
      </div>
      {more}
    </form>
  );
};
