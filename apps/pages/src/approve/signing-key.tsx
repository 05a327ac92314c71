/** The signing key of this browser: bring it, choose what guards it, and approve with it. */

import type { Signer } from '@svc/sdk-principal';
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Confirm } from '../shared/confirm.tsx';
import { Alert } from '../shared/problem.tsx';
import { forgetKeptKey, type KeptKey, readKeptKey } from './kept-key.ts';
import { hasPasskeys } from './passkey.ts';
import { type BroughtKey, keepWithPasskey, keepWithPassphrase, parseBroughtKey, unlock } from './vault.ts';

export interface SigningKeyProps {
  readonly principal: string;
  readonly isBusy: boolean;
  /** What went wrong with the latest approval. */
  readonly problem: string | null;
  /** Rejects where the key is not the one that is published under its kid. */
  readonly check: (brought: BroughtKey) => Promise<void>;
  readonly onApprove: (unlocked: () => Promise<Signer>) => Promise<void>;
  readonly onForgotten: () => void;
}

export const SigningKey = ({
  principal,
  isBusy,
  problem,
  check,
  onApprove,
  onForgotten,
}: SigningKeyProps) => {
  /** Undefined until the page has read whether a key is kept. */
  const [kept, setKept] = useState<KeptKey | null | undefined>(undefined);
  /** What is wrong with this browser's store. */
  const [storeProblem, setStoreProblem] = useState<string | null>(null);
  const [passphrase, setPassphrase] = useState('');
  const [isRemoving, setIsRemoving] = useState(false);
  useEffect(() => {
    readKeptKey().then(setKept, (error) => {
      setKept(null);
      setStoreProblem(problemText(error));
    });
  }, []);
  const onRemoved = () => {
    setIsRemoving(false);
    setKept(null);
    onForgotten();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (kept == null) return;
    const given = passphrase;
    setPassphrase('');
    void onApprove(() => unlock(kept, given));
  };
  if (kept === undefined) return null;
  if (kept === null)
    return <Bring principal={principal} problem={storeProblem} check={check} onKept={setKept} />;
  return (
    <>
      <form class="card" aria-labelledby="yes" onSubmit={submit}>
        <h2 id="yes">Approve</h2>
        <p class="guard">
          <strong>{GUARDS[kept.guard].name}</strong> {GUARDS[kept.guard].does}
        </p>
        {kept.guard === 'passphrase' && (
          <label class="field">
            <span>Passphrase</span>
            <input
              type="password"
              autocomplete="off"
              value={passphrase}
              onInput={(event) => setPassphrase(event.currentTarget.value)}
            />
          </label>
        )}
        <Alert text={problem} />
        <div class="row">
          <button type="submit" class="button button-main button-large" aria-disabled={isBusy}>
            {isBusy ? 'Working …' : 'Approve and sign'}
          </button>
          <p class="soft">
            with <code>{kept.kid}</code>
          </p>
        </div>
        <button type="button" class="button button-quiet" onClick={() => setIsRemoving(true)}>
          Remove the signing key from this browser …
        </button>
      </form>
      {isRemoving && (
        <Confirm
          title="Remove the signing key from this browser?"
          verb="Remove"
          busy="Removing …"
          isDangerous
          act={forgetKeptKey}
          onDone={onRemoved}
          onClose={() => setIsRemoving(false)}
        >
          <p>
            This page has no other copy of <code>{kept.kid}</code>: to approve here again, you bring the
            private key again. It stays published, and what it has signed stays valid.
          </p>
        </Confirm>
      )}
    </>
  );
};

const GUARDS: Readonly<Record<KeptKey['guard'], { readonly name: string; readonly does: string }>> = {
  passkey: {
    name: 'Guarded by your passkey.',
    does: 'The key is encrypted; only your passkey gives the secret that opens it, and only once it has verified that it is you.',
  },
  presence: {
    name: 'Guarded by asking your passkey.',
    does: 'This passkey gives no secret. The key cannot be read out of this browser, and this page has your passkey verify that it is you before each use; who could change this page could use the key without.',
  },
  passphrase: {
    name: 'Guarded by your passphrase.',
    does: 'The key is encrypted under it, in this browser. Nobody can tell you a passphrase that is forgotten: bring the key again then.',
  },
};

const Bring = ({
  principal,
  problem,
  check,
  onKept,
}: Pick<SigningKeyProps, 'principal' | 'problem' | 'check'> & {
  readonly onKept: (kept: KeptKey) => void;
}) => {
  const [jwk, setJwk] = useState('');
  const [kid, setKid] = useState(`${principal}#key-1`);
  const [passphrase, setPassphrase] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const bring = async (keep: typeof keepWithPasskey) => {
    if (isBusy) return;
    setIsBusy(true);
    setRefused(null);
    try {
      const brought = parseBroughtKey(jwk, kid.trim());
      if (!brought.kid.startsWith(`${principal}#`))
        throw new Error(`This key is of ${brought.kid.split('#')[0]}, and ${principal} is asked.`);
      await check(brought);
      const kept = await keep(brought);
      setJwk('');
      onKept(kept);
    } catch (error) {
      setRefused(problemText(error));
    }
    setIsBusy(false);
  };
  const shown = refused ?? problem;
  return (
    <section class="card" aria-labelledby="bring">
      <h2 id="bring">Bring your signing key</h2>
      <p class="soft">
        Once for this browser. It is kept guarded, here alone, and is sent to nobody; the text that you paste
        is not kept.
      </p>
      <label class="field">
        <span>Private key, as a JWK</span>
        <textarea
          rows={3}
          autocomplete="off"
          spellcheck={false}
          placeholder='{"kty":"OKP","crv":"Ed25519","x":"…","d":"…"}'
          value={jwk}
          onInput={(event) => setJwk(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Published as (its kid)</span>
        <input type="text" value={kid} onInput={(event) => setKid(event.currentTarget.value)} />
      </label>
      <Alert text={shown} />
      {hasPasskeys() && (
        <button
          type="button"
          class="button button-main"
          aria-disabled={isBusy}
          onClick={() => void bring(keepWithPasskey)}
        >
          Keep it behind a passkey
        </button>
      )}
      <label class="field">
        <span>{hasPasskeys() ? 'Or a passphrase' : 'A passphrase: this browser has no passkeys here'}</span>
        <input
          type="password"
          autocomplete="new-password"
          value={passphrase}
          onInput={(event) => setPassphrase(event.currentTarget.value)}
        />
      </label>
      <button
        type="button"
        class="button"
        aria-disabled={isBusy}
        onClick={() => void bring((brought) => keepWithPassphrase(brought, passphrase))}
      >
        Keep it behind a passphrase
      </button>
    </section>
  );
};
