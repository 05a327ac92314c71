/** The dashboard: what a key may see of its decisions. The key stays in this tab and is sent to this service alone. */
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, callApi, problemText } from '../shared/api.ts';
import { Shell } from '../shared/shell.tsx';
import type { Me } from '../shared/wire.ts';
import { KeyForm } from './key-form.tsx';
import { Overview } from './overview.tsx';
import type { Session } from './session.ts';
import './dashboard.css';

/** Gone with the tab. */
const STORED_AS = 'svc-dashboard-key';

export const Dashboard = () => {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOpening, setIsOpening] = useState(false);

  const open = async (key: string) => {
    setIsOpening(true);
    setProblem(null);
    try {
      const { body: me } = await callApi<Me>('me', { key });
      sessionStorage.setItem(STORED_AS, key);
      setSession({ key, me });
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
    const stored = sessionStorage.getItem(STORED_AS);
    if (stored !== null) void open(stored);
  }, []);

  return (
    <Shell page="dashboard">
      {session === null ? (
        <KeyForm onKey={open} problem={problem} isOpening={isOpening} />
      ) : (
        <Overview session={session} onForget={forget} />
      )}
    </Shell>
  );
};
