/**
 * Spans that the ledger lost because its database was restored from a backup, as the service's signed statements say.
 */
import { useEffect, useState } from 'preact/hooks';
import { callApi, problemText } from '../shared/api.ts';
import { JwsView } from '../shared/jws-view.tsx';
import { PartsList } from '../shared/parts-list.tsx';
import type { Restore } from '../shared/wire.ts';
import { check, useParts } from './checks.ts';

/** Renders nothing where nothing was ever lost. `document` is null while none may be used. */
export const Restores = ({ document }: { readonly document: string | null }) => {
  const [restores, setRestores] = useState<readonly Restore[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    callApi<{ restores: Restore[] }>('restores').then(
      ({ body }) => setRestores(body.restores),
      (error) => setProblem(problemText(error)),
    );
  }, []);
  if (problem === null && restores.length === 0) return null;
  return (
    <section class="card" aria-labelledby="restores">
      <div class="card-head">
        <h2 id="restores">Lost spans</h2>
        <p>UTC</p>
      </div>
      {problem === null ? (
        <p class="soft">
          The database was set back to a backup. A Receipt of such a span is as valid as any other; the ledger
          may lack it.
        </p>
      ) : (
        <p class="note note-warn" role="status">
          Whether anything was lost could not be read: {problem}
        </p>
      )}
      {restores.map((restore) => (
        <details key={restore.epoch} data-epoch={restore.epoch}>
          <summary>
            {restore.lost_from} to {restore.lost_until}
          </summary>
          <Checked restore={restore} document={document} />
          <JwsView jws={restore.statement} name={`restore ${restore.epoch}`} />
        </details>
      ))}
    </section>
  );
};

const Checked = ({ restore, document }: { readonly restore: Restore; readonly document: string | null }) => {
  const parts = useParts(document, (under) => check('restore', under, restore), [restore]);
  return parts === null ? <p class="soft">Not checked yet.</p> : <PartsList parts={parts} />;
};
