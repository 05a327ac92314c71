/**
 * Asks for the Principal's API key. The key is enough to read the requests; an approval needs the signing key as well.
 */
import { useState } from 'preact/hooks';

export interface ApiKeyFormProps {
  readonly onKey: (key: string) => Promise<void>;
  readonly problem: string | null;
  readonly isOpening: boolean;
  /** True where the address names one request. */
  readonly isForOne: boolean;
}

export const ApiKeyForm = ({ onKey, problem, isOpening, isForOne }: ApiKeyFormProps) => {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = key.trim();
    const isKey = /^dk_principal_[\x21-\x7e]+$/.test(given);
    setRefused(isKey ? null : 'The key of a Principal is needed: it begins with dk_principal_.');
    if (isKey && !isOpening) void onKey(given);
  };
  const shown = refused ?? problem;
  return (
    <form class="card key-form" onSubmit={submit}>
      <label class="field">
        <span>API key of your Principal</span>
        <input
          type="password"
          name="key"
          autocomplete="off"
          spellcheck={false}
          placeholder="dk_principal_…"
          value={key}
          aria-invalid={shown !== null}
          aria-describedby="key-problem"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <div id="key-problem" role="alert">
        {shown !== null && <p class="note note-bad">{shown}</p>}
      </div>
      <div class="row">
        <button type="submit" class="button button-main" aria-disabled={isOpening}>
          {isOpening ? 'Opening …' : isForOne ? 'Show what is asked' : 'Open'}
        </button>
        <p class="soft">
          It stays in this tab until the tab is closed. It reads what you are asked; it cannot approve.
        </p>
      </div>
    </form>
  );
};
