/** Looks up a Receipt, checks its proof part by part, and draws its path. */
import { isReceiptId } from '@svc/protocol';
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import type { Part } from '../shared/part.ts';
import { PartsList } from '../shared/parts-list.tsx';
import type { InclusionPending, InclusionProof } from '../shared/wire.ts';
import { check, needsAttestation } from './checks.ts';
import type { Log } from './log.ts';
import { PathDrawing } from './path-drawing.tsx';
import { goToReceipt, type Place } from './place.ts';
import { walkPath } from './walk-path.ts';

type Found =
  | { readonly state: 'nothing' | 'loading' }
  | { readonly state: 'failed'; readonly problem: string }
  | { readonly state: 'pending'; readonly pending: InclusionPending }
  | { readonly state: 'proof'; readonly proof: InclusionProof; readonly parts: readonly Part[] };

export const LookUp = ({
  place,
  log,
  document,
  isWaiting,
  isExample,
}: {
  /** The Receipt is looked up again with each new `Place` object, even one with the same address. */
  readonly place: Place;
  readonly log: Log;
  /** The document under which the proof is checked; null while none may be used. */
  readonly document: string | null;
  /** Whether a missing document is being fetched. */
  readonly isWaiting: boolean;
  readonly isExample: boolean;
}) => {
  const { receipt: receiptId } = place;
  const found = useInclusion(place, log, document);
  return (
    <section class="card" aria-labelledby="look-up">
      <div class="card-head">
        <h2 id="look-up">Find a Receipt</h2>
        <p>Its way to the root of its day</p>
      </div>
      <LookUpForm key={receiptId} receiptId={receiptId ?? ''} />
      <div role="status" class="found">
        {isExample && found.state === 'proof' && (
          <p class="note note-warn">A Receipt of the demonstration below, not of this service.</p>
        )}
        {found.state === 'loading' && (document !== null || isWaiting) && (
          <p class="soft">Asking for the proof …</p>
        )}
        {found.state === 'failed' && <p class="note note-bad">{found.problem}</p>}
        {found.state === 'pending' && (
          <p class="note note-warn">
            {found.pending.day} is not closed yet. The proof is there shortly after the day ends, at midnight
            UTC.
          </p>
        )}
        {found.state === 'proof' && <Proof proof={found.proof} parts={found.parts} />}
      </div>
    </section>
  );
};

const LookUpForm = ({ receiptId }: { readonly receiptId: string }) => {
  const [text, setText] = useState(receiptId);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() !== '') goToReceipt(text.trim());
  };
  return (
    <form class="look-up-form" onSubmit={submit}>
      <label class="field">
        <span>Receipt id</span>
        <input
          class="mono"
          placeholder="drc_…"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button button-main">
        Look up
      </button>
    </form>
  );
};

const Proof = ({ proof, parts }: { readonly proof: InclusionProof; readonly parts: readonly Part[] }) => {
  const holds = parts.every(({ state }) => state === 'ok');
  const isWrong = parts.some(({ state }) => state === 'wrong');
  const steps = walkPath(proof);
  return (
    <>
      <p class={`note ${holds ? 'note-good' : isWrong ? 'note-bad' : 'note-warn'}`}>
        {holds
          ? `Proven in this tab: it is Receipt ${(proof.leaf_index + 1).toLocaleString('en')} of ${proof.tree_size.toLocaleString('en')} of ${proof.day}.`
          : isWrong
            ? 'This proof does not hold.'
            : 'Whether this proof holds could not be decided.'}
      </p>
      <div class="proof">
        <PathDrawing proof={proof} steps={steps} holds={holds} />
        <div class="proof-side">
          <PartsList parts={parts} />
          <dl class="facts">
            <dt>Day</dt>
            <dd>
              <a href={`#day=${proof.day}`}>{proof.day}</a>
            </dd>
            <dt>Root</dt>
            <dd>
              <code>{proof.root}</code>
            </dd>
            <dt>Steps</dt>
            <dd>{proof.audit_path.length}</dd>
          </dl>
          <div class="row">
            <CopyButton text={location.href} label="Copy a link to this proof" />
            <CopyButton text={JSON.stringify(proof, null, 2)} label="Copy the proof" />
          </div>
        </div>
      </div>
    </>
  );
};

const useInclusion = (place: Place, log: Log, document: string | null): Found => {
  const [found, setFound] = useState<Found>({ state: 'nothing' });
  useEffect(() => {
    let isCurrent = true;
    const show = (next: Found) => void (isCurrent && setFound(next));
    const { receipt: receiptId } = place;
    if (receiptId === null) show({ state: 'nothing' });
    else if (!isReceiptId(receiptId))
      show({ state: 'failed', problem: 'This is not a Receipt id: drc_ and 26 characters.' });
    else {
      show({ state: 'loading' });
      if (document === null) return;
      find(receiptId, log, document).then(show, (error) =>
        show({ state: 'failed', problem: problemText(error) }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [place, log, document]);
  return found;
};

const find = async (receiptId: string, log: Log, document: string): Promise<Found> => {
  const answer = await log.getInclusion(receiptId);
  if ('status' in answer) return { state: 'pending', pending: answer };
  const parts = await check('inclusion', answer, receiptId, document);
  if (!needsAttestation(parts)) return { state: 'proof', proof: answer, parts };
  const attestation = await log.getAttestation(receiptId).catch(() => null);
  if (attestation === null) return { state: 'proof', proof: answer, parts };
  const attested = await check('inclusion', answer, receiptId, document, attestation);
  return { state: 'proof', proof: answer, parts: attested };
};
