/** The dashboard: the decisions that a key may see. The key stays in this tab and is sent only to this service. */
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, callApi, problemText } from '../shared/api.ts';
import { listPlayed, type Played } from '../shared/played.ts';
import { Shell } from '../shared/shell.tsx';
import type { Me } from '../shared/wire.ts';
import { KeyForm } from './key-form.tsx';
import { sourceOfPlayed } from './played-source.ts';
import { ownOf, type Session } from './session.ts';
import { sourceOfKey } from './source.ts';
import './dashboard.css';

/** Deleted when the tab is closed. */
const STORED_AS = 'svc-dashboard-key';
/** The address that the playground links to. */
const PLAYED = '#playground';

/** Loaded with the first key: the chart and the cryptography are most of this page's code. */
const loadOverview = () =>
  import('./overview.tsx').catch(() => {
    throw new Error('A part of this page could not be loaded. Load the page again.');
  });

interface Opened {
  readonly session: Session;
  readonly Overview: Awaited<ReturnType<typeof loadOverview>>['Overview'];
}

export const Dashboard = () => {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOpening, setIsOpening] = useState(false);
  /** True until the page knows whether the address or the key of this tab opens something without the form. */
  const [isStarting, setIsStarting] = useState(true);
  const [played, setPlayed] = useState<readonly Played[]>([]);

  const open = async (find: () => Promise<Session>) => {
    setIsOpening(true);
    setProblem(null);
    try {
      const [session, { Overview }] = await Promise.all([find(), loadOverview()]);
      setOpened({ session, Overview });
    } catch (error) {
      // Any other failure keeps the key, which may be valid after a reload.
      if (error instanceof ApiProblem && error.status === 401) forget();
      setProblem(problemText(error));
    }
    setIsOpening(false);
    setIsStarting(false);
  };
  const openKey = (key: string) =>
    open(async () => {
      const { body: me } = await callApi<Me>('me', { key });
      sessionStorage.setItem(STORED_AS, key);
      return sessionOfKey(key, me);
    });
  const openPlayed = (all: readonly Played[]) => open(async () => sessionOfPlayed(all));
  const forget = () => {
    sessionStorage.removeItem(STORED_AS);
    setOpened(null);
  };
  useEffect(() => {
    const inThisTab = listPlayed();
    setPlayed(inThisTab);
    const stored = sessionStorage.getItem(STORED_AS);
    if (location.hash === PLAYED && inThisTab.length > 0) void openPlayed(inThisTab);
    else if (stored !== null) void openKey(stored);
    else setIsStarting(false);
  }, []);

  return (
    <Shell page="dashboard">
      {opened === null ? (
        <KeyForm
          onKey={openKey}
          problem={problem}
          isOpening={isOpening}
          isStarting={isStarting}
          onPlayed={played.length === 0 ? null : () => openPlayed(played)}
        />
      ) : (
        <opened.Overview session={opened.session} onForget={forget} />
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
  own: ownOf(key, me),
});

const sessionOfPlayed = (played: readonly Played[]): Session => ({
  title: 'What you tried in the playground',
  subject: played[0]?.receipt.relying_party ?? '',
  about: 'in this tab, and gone with it',
  role: 'playground',
  source: sourceOfPlayed(played),
  own: null,
});
