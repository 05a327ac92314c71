/** The dashboard: what a key may see of its decisions. The key stays in this tab and is sent to this service alone. */
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, callApi, problemText } from '../shared/api.ts';
import { listPlayed, type Played } from '../shared/played.ts';
import { Shell } from '../shared/shell.tsx';
import type { Me } from '../shared/wire.ts';
import { KeyForm } from './key-form.tsx';
import { Overview } from './overview.tsx';
import { sourceOfPlayed } from './played-source.ts';
import type { Session } from './session.ts';
import { sourceOfKey } from './source.ts';
import './dashboard.css';

/** Gone with the tab. */
const STORED_AS = 'svc-dashboard-key';
/** The address that the playground links to. */
const PLAYED = '#playground';

export const Dashboard = () => {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOpening, setIsOpening] = useState(false);
  const [played, setPlayed] = useState<readonly Played[]>([]);

  const open = async (key: string) => {
    setIsOpening(true);
    setProblem(null);
    try {
      const { body: me } = await callApi<Me>('me', { key });
      sessionStorage.setItem(STORED_AS, key);
      setSession(sessionOfKey(key, me));
    } catch (error) {
      // A key that could not be asked about may be good after a reload.
      if (error instanceof ApiProblem && error.status === 401) forget();
      setProblem(problemText(error));
    }
    setIsOpening(false);
  };
  const forget = () => {
    sessionStorage.removeItem(STORED_AS);
    setSession(null);
  };
  useEffect(() => {
    const inThisTab = listPlayed();
    setPlayed(inThisTab);
    const stored = sessionStorage.getItem(STORED_AS);
    if (location.hash === PLAYED && inThisTab.length > 0) setSession(sessionOfPlayed(inThisTab));
    else if (stored !== null) void open(stored);
  }, []);

  return (
    <Shell page="dashboard">
      {session === null ? (
        <KeyForm
          onKey={open}
          problem={problem}
          isOpening={isOpening}
          onPlayed={played.length === 0 ? null : () => setSession(sessionOfPlayed(played))}
        />
      ) : (
        <Overview session={session} onForget={forget} />
      )}
    </Shell>
  );
};

const sessionOfKey = (key: string, me: Me): Session => ({
  title: me.name ?? me.org?.name ?? me.subject,
  subject: me.subject,
  about: `${me.role} key ${me.key_label ? `“${me.key_label}”` : me.key_id} · ${me.env}`,
  role: me.role,
  source: sourceOfKey(key, me),
});

const sessionOfPlayed = (played: readonly Played[]): Session => ({
  title: 'What you tried in the playground',
  subject: played[0]?.receipt.relying_party ?? '',
  about: 'in this tab, and gone with it',
  role: 'playground',
  source: sourceOfPlayed(played),
});
