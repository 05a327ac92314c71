/** Asks for the key. */
import { useState } from 'preact/hooks';

export interface KeyFormProps {
  readonly onKey: (key: string) => Promise<void>;
  readonly problem: string | null;
  readonly isOpening: boolean;
}

export const KeyForm = ({ onKey, problem, isOpening }: KeyFormProps) => {
  const [key, setKey] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (key.trim() !== '') void onKey(key.trim());
  };
  return (
    <form class="card key-form" onSubmit={submit}>
      <label class="field">
        <span>Key of a relying party, an org or an observer</span>
        <input
          type="password"
          name="key"
          autocomplete="off"
          spellcheck={false}
          placeholder="dk_rp_…"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit" class="button button-main" disabled={isOpening}>
          {isOpening ? 'Opening …' : 'Open'}
        </button>
        <p class="soft">It stays in this tab until the tab is closed, and is sent to this service alone.</p>
      </div>
      {problem !== null && (
        <p class="note note-bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
};
