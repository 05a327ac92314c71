/** `/approve`: shows the requests to a Principal, checks them in this tab, and signs the answer in this tab. */
import { createPrincipalClient, type Me } from '@svc/sdk-principal';
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Shell } from '../shared/shell.tsx';
import type { Act } from './act.ts';
import { ApiKeyForm } from './api-key-form.tsx';
import { RequestView } from './request.tsx';
import { RequestList } from './request-list.tsx';
import './approve.css';

/** The name that the dashboard uses too, so that a key given there opens this page. Deleted when the tab is closed. */
const STORED_AS = 'svc-dashboard-key';

interface Opened {
  readonly me: Me;
  readonly act: Act;
}

/** The request that the address names behind `#`, a part that is never sent to a server; null: all that wait. */
const named = (): string | null => {
  const name = location.hash.slice(1);
  return name === '' || name === 'all' ? null : name;
};

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
  const [opened, setOpened] = useState<Opened | null>(null);
  const [isOpening, setIsOpening] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [shown, setShown] = useState<string | null>(null);

  const open = async (key: string) => {
    setIsOpening(true);
    setProblem(null);
    try {
      const me = await createPrincipalClient(connectionWith(key)).me();
      if (me.role !== 'principal')
        throw new Error(
          `This is the key of ${me.subject}, which is no Principal: only a Principal is asked.`,
        );
      sessionStorage.setItem(STORED_AS, key);
      setOpened({ me, act: actingAs(me.subject, key) });
    } catch (error) {
      setProblem(problemText(error));
    }
    setIsOpening(false);
  };
  useEffect(() => {
    const stored = sessionStorage.getItem(STORED_AS);
    if (stored?.startsWith('dk_principal_')) void open(stored);
    const show = () => setShown(named());
    show();
    addEventListener('hashchange', show);
    return () => removeEventListener('hashchange', show);
  }, []);
  const forget = () => {
    sessionStorage.removeItem(STORED_AS);
    setOpened(null);
  };

  return (
    <Shell page="approve">
      {opened === null ? (
        <ApiKeyForm
          onKey={open}
          problem={problem}
          isOpening={isOpening}
          isForOne={shown !== null && isRequestId(shown)}
        />
      ) : (
        <>
          <p class="row soft">
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
