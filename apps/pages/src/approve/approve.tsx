/** `/approve`: shows the requests to a Principal, checks them in this tab, and signs the answer in this tab. */
import { createPrincipalClient, type Me } from '@svc/sdk-principal';
import { useEffect, useState } from 'preact/hooks';
import { KeyForm } from '../shared/key-form.tsx';
import { Shell } from '../shared/shell.tsx';
import { keepKey, keyOfTab, useApiKey } from '../shared/use-api-key.ts';
import type { Act } from './act.ts';
import { RequestView } from './request.tsx';
import { RequestList } from './request-list.tsx';
import './approve.css';

interface Opened {
  readonly me: Me;
  readonly act: Act;
}

/** The request that the address names behind `#`, a part that is never sent to a server; null: all that wait. */
const named = (): string | null => {
  const name = location.hash.slice(1);
  return name === '' || name === 'all' ? null : name;
};

/** The API key is enough to read the requests; an approval needs the signing key as well. */
const keyFault = (key: string): string | null =>
  /^dk_principal_[\x21-\x7e]+$/.test(key)
    ? null
    : 'The key of a Principal is needed: it begins with dk_principal_.';

const isRequestId = (name: string): boolean => /^arq_[0-9A-Z]{26}$/.test(name);

const connectionWith = (apiKey: string) => ({
  baseUrl: new URL('.', location.href).href.replace(/\/$/, ''),
  apiKey,
});

/** Acts as the Principal that is shown, whatever the service answers about the API key later. */
const actingAs =
  (principal: string, apiKey: string): Act =>
  (signer) =>
    createPrincipalClient({ ...connectionWith(apiKey), principal, ...(signer !== undefined && { signer }) });

export const Approve = () => {
  const { opened, problem, isOpening, landing, open, forget } = useApiKey<Opened>();
  const [shown, setShown] = useState<string | null>(null);

  const openKey = (key: string) =>
    open(async () => {
      const me = await createPrincipalClient(connectionWith(key)).me();
      if (me.role !== 'principal')
        throw new Error(
          `This is the key of ${me.subject}, which is no Principal: only a Principal is asked.`,
        );
      keepKey(key);
      return { me, act: actingAs(me.subject, key) };
    });
  useEffect(() => {
    const key = keyOfTab();
    if (key?.startsWith('dk_principal_')) void openKey(key);
    const show = () => setShown(named());
    show();
    addEventListener('hashchange', show);
    return () => removeEventListener('hashchange', show);
  }, []);

  return (
    <Shell page="approve">
      {opened === null ? (
        <KeyForm
          label="API key of your Principal"
          placeholder="dk_principal_…"
          findFault={keyFault}
          onKey={openKey}
          problem={problem}
          isOpening={isOpening}
          verb={shown !== null && isRequestId(shown) ? 'Show what is asked' : 'Open'}
        >
          <p class="soft">
            It stays in this tab until the tab is closed. It reads what you are asked; it cannot approve.
          </p>
        </KeyForm>
      ) : (
        <>
          <p ref={landing} tabIndex={-1} class="row soft">
            <span>
              You are <code>{opened.me.subject}</code>
            </span>
            <button type="button" class="button button-quiet" onClick={forget}>
              Forget the API key
            </button>
          </p>
          {shown === null && <RequestList act={opened.act} />}
          {shown !== null && !isRequestId(shown) && <Incomplete />}
          {shown !== null && isRequestId(shown) && (
            <RequestView key={shown} id={shown} act={opened.act} principal={opened.me.subject} />
          )}
        </>
      )}
    </Shell>
  );
};

const Incomplete = () => (
  <section class="card" aria-labelledby="incomplete">
    <h2 id="incomplete">This address is incomplete</h2>
    <p>
      The address of a request ends in <code>#arq_</code> and 26 letters and digits. Open it as it was sent to
      you, or look at <a href="#all">all that waits</a>.
    </p>
  </section>
);
