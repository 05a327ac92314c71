/** Shows a secret once, until the user closes the note. The tab stores it nowhere. */
import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../../shared/copy-button.tsx';
import { formatInstant } from '../../shared/describe.ts';

export interface Secret {
  readonly subscriptionId: string;
  readonly url: string;
  readonly text: string;
  /** When the previous secret ends; null where there is none. */
  readonly previousEndsAt: string | null;
}

export const SecretNote = ({
  secret,
  onClose,
}: {
  readonly secret: Secret;
  readonly onClose: () => void;
}) => {
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), [secret.text]);
  return (
    <section ref={place} tabIndex={-1} class="card secret" aria-labelledby="secret">
      <h2 id="secret">Keep this secret now</h2>
      <p>
        Events to <code>{secret.url}</code> are signed with it. It is shown here once and never again; if it
        is lost, rotate it.
        {secret.previousEndsAt !== null &&
          ` The one before is in force beside it until ${formatInstant(secret.previousEndsAt)}.`}
      </p>
      <p class="secret-text">
        <code>{secret.text}</code>
      </p>
      <div class="row">
        <CopyButton text={secret.text} label="Copy the secret" />
        <button type="button" class="button button-small" onClick={onClose}>
          I have it
        </button>
      </div>
    </section>
  );
};
