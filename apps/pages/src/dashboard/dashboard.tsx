/** The dashboard: the decisions that a key may see. The key stays in this tab and is sent only to this service. */
import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../shared/api.ts';
import { KeyForm } from '../shared/key-form.tsx';
import { listPlayed, type Played } from '../shared/played.ts';
import { Shell } from '../shared/shell.tsx';
import { keepKey, keyOfTab, useApiKey } from '../shared/use-api-key.ts';
import type { Me } from '../shared/wire.ts';
import { KEY_CLASSES, keyProblem } from './key-format.ts';
import { sourceOfPlayed } from './played-source.ts';
import { ownOf, type Session } from './session.ts';
import { sourceOfKey } from './source.ts';
import './dashboard.css';

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
  const { opened, problem, isOpening, landing, open, close, forget } = useApiKey<Opened>();
  /**
   * True until the page knows whether the address or the key of this tab opens something. Until then style hides the
   * form from a reader who comes from the playground.
   */
  const [isStarting, setIsStarting] = useState(true);
  const [played, setPlayed] = useState<readonly Played[]>([]);

  const openSession = async (find: () => Promise<Session>) => {
    await open(async () => {
      const [session, { Overview }] = await Promise.all([find(), loadOverview()]);
      return { session, Overview };
    });
    setIsStarting(false);
  };
  const openKey = (key: string) =>
    openSession(async () => {
      const { body: me } = await callApi<Me>('me', { key });
      keepKey(key);
      return sessionOfKey(key, me);
    });
  const openPlayed = (all: readonly Played[]) => openSession(async () => sessionOfPlayed(all));
  const openKeyOfTab = () => {
    const key = keyOfTab();
    if (key === null) setIsStarting(false);
    else void openKey(key);
  };
  const closePlayed = () => {
    location.hash = '';
    close();
    openKeyOfTab();
  };
  useEffect(() => {
    const inThisTab = listPlayed();
    setPlayed(inThisTab);
    if (location.hash === PLAYED && inThisTab.length > 0) void openPlayed(inThisTab);
    else openKeyOfTab();
  }, []);

  return (
    <Shell page="dashboard">
      {opened === null ? (
        <KeyForm
          id="playground"
          label="Key of a relying party, a Principal, an org or an observer"
          placeholder="dk_rp_…"
          findFault={keyProblem}
          onKey={openKey}
          problem={problem}
          isOpening={isOpening}
          isBusy={isStarting}
          more={<KeyClasses />}
        >
          {played.length > 0 && (
            <button type="button" class="button" onClick={() => void openPlayed(played)}>
              Show what I tried in the playground
            </button>
          )}
          <p class="soft">It stays in this tab until the tab is closed, and is sent to this service alone.</p>
        </KeyForm>
      ) : (
        <opened.Overview
          session={opened.session}
          landing={landing}
          onLeave={opened.session.role === 'playground' ? closePlayed : forget}
        />
      )}
    </Shell>
  );
};

const KeyClasses = () => (
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
);

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
