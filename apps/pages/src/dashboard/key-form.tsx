/** Asks for the key and names the classes of keys. A text that cannot be a key is refused here and not sent. */
import { useState } from 'preact/hooks';
import { KEY_CLASSES, keyProblem } from './key-format.ts';

export interface KeyFormProps {
  readonly onKey: (key: string) => Promise<void>;
  readonly problem: string | null;
  readonly isOpening: boolean;
  /**
   * True until the page knows whether the address or the key of this tab opens something. Until then style hides the
   * form from a reader who comes from the playground.
   */
  readonly isStarting: boolean;
  /** Null where this tab has sent nothing in the playground. */
  readonly onPlayed: (() => void) | null;
}

export const KeyForm = ({ onKey, problem, isOpening, isStarting, onPlayed }: KeyFormProps) => {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const found = keyProblem(key.trim());
    setRefused(found);
    if (found === null && !isOpening) void onKey(key.trim());
  };
  const shown = refused ?? problem;
  return (
    <form id="playground" class="card key-form" aria-busy={isStarting} onSubmit={submit}>
      <label class="field">
        <span>Key of a relying party, a Principal, an org or an observer</span>
        <input
          type="password"
          name="key"
          autocomplete="off"
          spellcheck={false}
          placeholder="dk_rp_…"
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
          {isOpening ? 'Opening …' : 'Open'}
        </button>
        {onPlayed !== null && (
          <button type="button" class="button" onClick={onPlayed}>
            Show what I tried in the playground
          </button>
        )}
        <p class="soft">It stays in this tab until the tab is closed, and is sent to this service alone.</p>
      </div>
      <dl class="facts">
        {KEY_CLASSES.map(({ prefix, of, shows }) => (
          <>
            <dt key={prefix}>
              <code>{prefix}…</code>
            </dt>
            <dd key={`${prefix} is`}>
              of {of}: {shows}
            </dd>
          </>
        ))}
      </dl>
    </form>
  );
};
