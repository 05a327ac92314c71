/** One decision: its Receipt, verified in this tab, and every outcome that was reported of it. */

import { type Failure, type Receipt, type Verdict, verdictOf } from '@svc/receipts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { formatAmount, formatInstant } from '../shared/describe.ts';
import { Problem } from '../shared/problem.tsx';
import { ReceiptView } from '../shared/receipt-view.tsx';
import { Note } from '../shared/resource.tsx';
import { useLoaded } from '../shared/use-loaded.ts';
import type { Decision, OutcomeRecord } from '../shared/wire.ts';
import { ReportOutcome } from './report-outcome.tsx';
import type { Source } from './source.ts';
import { verifyStoredReceipt } from './verify-stored-receipt.ts';

type From = NonNullable<Source['decisions']>;

export interface OpenedDecisionProps {
  readonly from: From;
  readonly receiptId: string;
  readonly onClose: () => void;
}

export const OpenedDecision = ({ from, receiptId, onClose }: OpenedDecisionProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const { value, problem, reload } = useLoaded(() => read(from, receiptId), [from, receiptId]);
  const { getBundle, outcomes } = from;
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="drawer" onClose={onClose} aria-labelledby="opened">
      <div class="drawer-inner">
        <header class="drawer-head">
          <div>
            <h2 id="opened">Decision</h2>
            <p class="soft">
              <code>{receiptId}</code>
            </p>
          </div>
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <div class="row">
          {getBundle !== null && (
            <>
              <CopyButton text={linkTo(receiptId)} label="Copy a link" />
              <BundleButton receiptId={receiptId} getBundle={getBundle} />
            </>
          )}
        </div>
        {value === null && problem === null && <p class="soft">Loading …</p>}
        <Problem text={problem !== null && value !== null ? `Not read again: ${problem}` : problem} />
        {value !== null && (
          <>
            <Opened decision={value.decision} failures={value.failures} />
            {outcomes !== null && (
              <ReportOutcome
                getServiceTime={outcomes.getServiceTime}
                report={(event) => outcomes.report(value.decision.receipt, event)}
                onReported={reload}
              />
            )}
          </>
        )}
      </div>
    </dialog>
  );
};

const linkTo = (receiptId: string): string =>
  new URL(`dashboard#${new URLSearchParams({ decision: receiptId })}`, location.href).href;

/** Downloads the Receipt, inclusion proof, checkpoint, DID document and evidence as one file. */
const BundleButton = ({
  receiptId,
  getBundle,
}: {
  readonly receiptId: string;
  readonly getBundle: NonNullable<From['getBundle']>;
}) => {
  const [says, setSays] = useState('');
  const download = async () => {
    try {
      const bundle = await getBundle(receiptId);
      if (bundle === null) return setSays('There once its day is closed, shortly after midnight UTC.');
      const address = URL.createObjectURL(new Blob([JSON.stringify(bundle)], { type: 'application/json' }));
      const link = document.createElement('a');
      Object.assign(link, { href: address, download: `${receiptId}.bundle.json` }).click();
      URL.revokeObjectURL(address);
      setSays('');
    } catch (error) {
      setSays(problemText(error));
    }
  };
  return (
    <>
      <button type="button" class="button button-quiet" onClick={() => void download()}>
        Download the bundle
      </button>
      <p class="soft" role="status">
        {says}
      </p>
    </>
  );
};

const NOTES: Readonly<Record<Verdict, string>> = {
  valid: 'note-good',
  undecided: 'note-warn',
  invalid: 'note-bad',
};

/** The result of the check in this tab, as a sentence. */
const saysOf = (verdict: Verdict, failures: readonly Failure<string>[]): string => {
  if (verdict === 'valid') return 'The Receipt’s signature and content were checked in this tab: valid.';
  if (verdict === 'invalid')
    return 'This is not the Receipt of this decision, signed by this service. Do not rely on it.';
  return failures.some(({ code }) => code === 'key-not-in-force')
    ? 'Undecided: the key that signed this Receipt had ended, or may have leaked. Once the day of the decision is closed, shortly after midnight UTC, the service’s attestation decides: open it again then.'
    : `Undecided: ${failures.map(({ message }) => message).join('; ')}.`;
};

const Opened = ({
  decision,
  failures,
}: {
  readonly decision: Decision;
  readonly failures: readonly Failure<string>[];
}) => {
  const receipt = decision.receipt as unknown as Receipt;
  const verdict = verdictOf(failures);
  const proven = verdict === 'valid';
  return (
    <>
      <p class={`note ${NOTES[verdict]}`} role="status">
        {saysOf(verdict, failures)}{' '}
        <a class="plain-link" href={`verify-receipt#jws=${receipt.receipt}`}>
          Look at it part by part
        </a>
      </p>
      <Ledger outcomes={decision.outcomes} />
      <ReceiptView receipt={receipt} jws={receipt.receipt} proven={proven} />
    </>
  );
};

const Ledger = ({ outcomes }: { readonly outcomes: readonly OutcomeRecord[] }) => (
  <section class="card" aria-label="Outcome ledger">
    <div class="card-head">
      <h2>What became of it</h2>
      <p>{outcomes.length === 0 ? 'Nothing reported yet' : `${outcomes.length} reported`}</p>
    </div>
    {outcomes.length > 0 && (
      <ol class="ledger">
        {outcomes.map((one) => (
          <li key={one.attestation_id}>
            <p class="ledger-what">
              {one.type.replaceAll('_', ' ')} {detailOf(one)}
            </p>
            <p class="soft">
              <time dateTime={one.occurred_at}>{formatInstant(one.occurred_at)}</time>, recorded{' '}
              <time dateTime={one.recorded_at}>{formatInstant(one.recorded_at)}</time>
            </p>
            {one.correction_of !== undefined && (
              <p class="soft">
                corrects <code>{one.correction_of}</code>
              </p>
            )}
            {one.note !== undefined && (
              <p>
                <Note text={one.note} />
              </p>
            )}
            {one.consumption !== undefined && (
              <p class="soft">moved the Grant’s consumption to version {one.consumption.version}</p>
            )}
            <p class="soft">
              <code>{one.attestation_id}</code>
            </p>
          </li>
        ))}
      </ol>
    )}
  </section>
);

const detailOf = ({ resolution, loss_amount: loss, currency }: OutcomeRecord): string => {
  if (resolution !== undefined) return `· ${resolution.replaceAll('_', ' ')}`;
  return loss !== undefined && currency !== undefined ? `· ${formatAmount(loss, currency)}` : '';
};

const OTHER_DECISION: Failure<string> = {
  code: 'receipt-id',
  message: 'the Receipt is of another decision',
};

interface Read {
  readonly decision: Decision;
  readonly failures: readonly Failure<string>[];
}

const read = async (from: From, receiptId: string): Promise<Read> => {
  const decision = await from.get(receiptId);
  const { receipt } = decision;
  const failures = receipt.receipt_id === receiptId ? await verifyStoredReceipt(receipt) : [OTHER_DECISION];
  return { decision, failures };
};
