/** The chain of days, latest first: each block shows its root, and whether it names the root of the block before. */
import { DAY_MS, dayOf, dayStartMs } from '@svc/protocol';
import { useEffect } from 'preact/hooks';
import { Icon } from '../shared/icons.tsx';
import { JwsView } from '../shared/jws-view.tsx';
import { type Part as Page, type Paged, useLatestRows, usePaged } from '../shared/paged.ts';
import type { Part } from '../shared/part.ts';
import { PartsList } from '../shared/parts-list.tsx';
import type { Checkpoint } from '../shared/wire.ts';
import { check, needsAttestation, useParts } from './checks.ts';
import type { Log } from './log.ts';

const PAGE_DAYS = 7;

export const Chain = ({
  openDay,
  log,
  document,
  isExample = false,
  onEmpty,
  onExample = null,
}: {
  readonly openDay: string | null;
  readonly log: Log;
  /** The DID document under which the signatures are checked; null while no document may be used. */
  readonly document: string | null;
  /** The log is marked as a demonstration, and has no open day. */
  readonly isExample?: boolean;
  /** Called where no day is closed yet. Must be the same function every time. */
  readonly onEmpty?: () => void;
  /** Null where the example is already shown. */
  readonly onExample?: (() => void) | null;
}) => {
  const loaded = useDays(openDay, log);
  const { isLoading, loadMore } = loaded;
  const days = useLatestRows(loaded);
  const notice = noticeOf(loaded, openDay);
  const isEmpty = loaded.rows?.length === 0;
  useEffect(() => {
    if (isEmpty) onEmpty?.();
  }, [isEmpty, onEmpty]);
  const shown = days.slice(0, -1);
  const last = days.at(-1);
  // The day before the last one shown is loaded only to check the chain, unless it is the first of all.
  if (last !== undefined && last.previous_root === null) shown.push(last);
  const id = isExample ? 'example-days' : 'days';
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{isExample ? 'A demonstration: two closed days' : 'Closed days'}</h2>
        <p>UTC</p>
      </div>
      {isExample && (
        <p class="note note-warn" role="status">
          Of a service that does not exist. Its roots and signatures are sound, and are checked here as those
          of this service will be.
        </p>
      )}
      <div role="status" class="found">
        {notice !== null && <p class="note note-warn">{notice}</p>}
        {isEmpty && onExample !== null && (
          <button type="button" class="button" onClick={onExample}>
            Show an example
          </button>
        )}
        {isLoading && days.length === 0 && <p class="soft">Loading …</p>}
      </div>
      <ol class="chain">
        {!isLoading && !isExample && <Today isFirst={isEmpty} />}
        {shown.map((checkpoint, i) => (
          <Block
            key={checkpoint.day}
            checkpoint={checkpoint}
            previous={days[i + 1] ?? null}
            log={log}
            document={document}
            isOpen={checkpoint.day === openDay}
            isExample={isExample}
          />
        ))}
      </ol>
      {loadMore !== null && (
        <button type="button" class="button" disabled={isLoading} onClick={() => void loadMore()}>
          {isLoading ? 'Loading …' : 'Older days'}
        </button>
      )}
    </section>
  );
};

const Block = ({
  checkpoint,
  previous,
  log,
  document,
  isOpen,
  isExample,
}: {
  readonly checkpoint: Checkpoint;
  readonly previous: Checkpoint | null;
  readonly log: Log;
  readonly document: string | null;
  readonly isOpen: boolean;
  readonly isExample: boolean;
}) => {
  const { day, tree_size: size, root } = checkpoint;
  const parts = useParts(document, (under) => checkBlock(log, under, checkpoint, previous), [
    checkpoint,
    previous,
    log,
  ]);
  const state = stateOf(parts);
  return (
    <li class={`block ${state === 'wrong' ? 'block-wrong' : ''}`} data-state={state}>
      <details open={isOpen || state === 'wrong' || state === 'undecided'}>
        <summary>
          <Icon of={state === 'undecided' ? 'idle' : state} />
          <span class="block-day">{day}</span>
          <span class="block-size">
            {size.toLocaleString('en')} Receipt{size === 1 ? '' : 's'}
          </span>
          <code class="block-root">{root.slice('sha256:'.length)}</code>
          <span class="unseen">{wordOf(checkpoint, state)}</span>
        </summary>
        <div class="block-more">
          {parts === null ? <p class="soft">Not checked yet.</p> : <PartsList parts={parts} />}
          <dl class="facts">
            <dt>Root</dt>
            <dd>
              <code>{root}</code>
            </dd>
            <dt>Day before</dt>
            <dd>
              <code>{checkpoint.previous_root ?? 'none'}</code>
            </dd>
            <dt>First Receipt</dt>
            <dd>{receiptLink(checkpoint.first_receipt_id)}</dd>
            <dt>Last Receipt</dt>
            <dd>{receiptLink(checkpoint.last_receipt_id)}</dd>
            {!isExample && (
              <>
                <dt>Every leaf</dt>
                <dd>
                  <a href={`checkpoints/${day}/leaves`}>leaves of {day}</a>
                </dd>
              </>
            )}
            <dt>Link</dt>
            <dd>
              <a href={`#day=${day}`}>to this day</a>
            </dd>
          </dl>
          <JwsView jws={checkpoint.checkpoint} name={`checkpoint of ${day}`} />
        </div>
      </details>
    </li>
  );
};

/** Checks a block with the attestation of its first Receipt, where it needs one and the service answers one. */
const checkBlock = async (
  { getAttestation }: Log,
  document: string,
  checkpoint: Checkpoint,
  previous: Checkpoint | null,
): Promise<readonly Part[]> => {
  const parts = await check('day', document, checkpoint, previous);
  const { first_receipt_id: id } = checkpoint;
  if (id === null || !needsAttestation(parts)) return parts;
  const attestation = await getAttestation(id).catch(() => null);
  return attestation === null ? parts : check('day', document, checkpoint, previous, attestation);
};

type BlockState = 'waiting' | 'ok' | 'undecided' | 'wrong';

const stateOf = (parts: readonly Part[] | null): BlockState => {
  if (parts === null) return 'waiting';
  if (parts.some(({ state }) => state === 'wrong')) return 'wrong';
  return parts.every(({ state }) => state === 'ok') ? 'ok' : 'undecided';
};

const wordOf = ({ previous_root: previous }: Checkpoint, state: BlockState): string => {
  if (state === 'waiting') return 'not checked yet';
  if (state === 'wrong') return 'wrong';
  if (state === 'undecided') return 'not decided';
  return previous === null ? 'signed, the first day' : 'signed, and linked to the day before';
};

/** The open day, as a block that is not closed yet. */
const Today = ({ isFirst }: { readonly isFirst: boolean }) => (
  <li class="block-today">
    <details open={isFirst}>
      <summary>
        <Icon of="idle" />
        <span class="block-day">{new Date().toISOString().slice(0, 10)}</span>
        <span class="block-size">open</span>
        <span class="block-root block-rootless">gets its root shortly after midnight UTC</span>
      </summary>
      <ul class="block-more soft to-come">
        <li>
          One signed root over all Receipts of the day: none can be taken out, changed or added any more.
        </li>
        <li>The root of the day before, so that no day can be rewritten without all that follow.</li>
        <li>For each Receipt the way from it to the root, which is recomputed in this tab.</li>
        <li>Every leaf, so that anybody can compute the root again.</li>
      </ul>
    </details>
  </li>
);

const receiptLink = (receiptId: string | null) =>
  receiptId === null ? (
    'none'
  ) : (
    <a href={`#receipt=${receiptId}`}>
      <code>{receiptId}</code>
    </a>
  );

/**
 * Latest first, without a gap: from the latest or from the one to be opened back in time. The last one may be there
 * only to check the one before it in this list.
 */
const useDays = (openDay: string | null, log: Log) =>
  usePaged<Checkpoint>(
    async (from) => {
      if (from !== null) return loadFrom(from, PAGE_DAYS, log);
      const latest = await log.findLatest();
      if (latest === null) return { rows: [], next: null };
      const { day, count } = latest;
      const isThere = openDay !== null && openDay <= day && openDay >= daysBefore(day, count - 1);
      return loadFrom(isThere ? openDay : day, PAGE_DAYS + 1, log);
    },
    [openDay, log],
  );

/** Loads days one after the other, since each says whether there is one before it. */
const loadFrom = async (newest: string, count: number, log: Log): Promise<Page<Checkpoint>> => {
  const rows: Checkpoint[] = [];
  let next: string | null = newest;
  while (next !== null && rows.length < count) {
    const checkpoint: Checkpoint = await log.getDay(next);
    rows.push(checkpoint);
    next = checkpoint.previous_root === null ? null : daysBefore(next, 1);
  }
  return { rows, next };
};

/** What went wrong, or why the requested day is not the first of these. */
const noticeOf = ({ rows, problem }: Paged<Checkpoint>, openDay: string | null): string | null => {
  if (problem !== null || rows === null) return problem;
  const [newest] = rows;
  if (newest === undefined)
    return 'No day is closed yet. The first is, shortly after it ends at midnight UTC.';
  return openDay === null || newest.day === openDay ? null : `${openDay} is no closed day.`;
};

const daysBefore = (day: string, count: number): string => dayOf(dayStartMs(day) - count * DAY_MS);
