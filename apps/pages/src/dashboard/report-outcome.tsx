/**
 * Reports the outcome of a decision (interface §Outcome attestations). A report is kept for ever, and can be corrected
 * by a later one.
 */
import { useState } from 'preact/hooks';
import { Problem } from '../shared/problem.tsx';
import { onceOnly, Uncertain } from '../shared/uncertain.ts';
import { useAct } from '../shared/use-act.ts';

const TYPES = {
  fulfilled: 'Fulfilled',
  cancelled: 'Cancelled',
  dispute_opened: 'Dispute opened',
  dispute_resolved: 'Dispute resolved',
  chargeback_received: 'Chargeback received',
  chargeback_reversed: 'Chargeback reversed',
  loss_reported: 'Loss',
} as const;

const RESOLUTIONS = {
  agent_at_fault: 'The Agent was at fault',
  agent_not_at_fault: 'The Agent was not at fault',
  indeterminate: 'It cannot be said',
} as const;

export const ReportOutcome = ({
  getServiceTime,
  report,
  onReported,
}: {
  readonly getServiceTime: () => Promise<string>;
  readonly report: (event: object) => Promise<unknown>;
  /** Called where the ledger has changed or may have changed. */
  readonly onReported: () => void;
}) => {
  const [type, setType] = useState<keyof typeof TYPES>('fulfilled');
  const [says, setSays] = useState('');
  const { isBusy, problem, run } = useAct();
  const submit = async (submitted: SubmitEvent) => {
    submitted.preventDefault();
    const form = submitted.currentTarget as HTMLFormElement;
    setSays('');
    const given = new FormData(form);
    const isRecorded = await run(async () => {
      const event = eventOf(type, given, await getServiceTime());
      try {
        await onceOnly(() => report(event), UNCERTAIN);
      } catch (error) {
        if (error instanceof Uncertain) onReported();
        throw error;
      }
    });
    if (!isRecorded) return;
    form.reset();
    setType('fulfilled');
    setSays('Recorded.');
    onReported();
  };
  return (
    <section class="card" aria-label="Report an outcome">
      <details class="plain-details">
        <summary>Report what became of it</summary>
        <form class="report" onSubmit={(event) => void submit(event)}>
          <label class="field">
            <span>What happened</span>
            <select
              value={type}
              onChange={(event) => setType(event.currentTarget.value as keyof typeof TYPES)}
            >
              {Object.entries(TYPES).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {type === 'dispute_resolved' && (
            <label class="field">
              <span>How it ended</span>
              <select name="resolution">
                {Object.entries(RESOLUTIONS).map(([value, name]) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          {type === 'loss_reported' && (
            <>
              <label class="field">
                <span>Amount in minor units</span>
                <input name="loss_amount" inputMode="numeric" pattern="[0-9]+" required />
              </label>
              <label class="field">
                <span>Currency</span>
                <input name="currency" pattern="[A-Z]{3}" placeholder="USD" required />
              </label>
            </>
          )}
          <label class="field">
            <span>Note, if any</span>
            <input name="note" maxLength={2_000} />
          </label>
          <Problem text={problem} />
          <div class="row">
            <button type="submit" class="button" aria-disabled={isBusy}>
              {isBusy ? 'Being recorded …' : 'Record it'}
            </button>
            <p class="soft" role="status">
              {says}
            </p>
          </div>
        </form>
      </details>
    </section>
  );
};

/** Shown where the answer was lost: two equal reports are two outcome records, and neither can be withdrawn. */
const UNCERTAIN =
  'It may have been recorded all the same: look at “What became of it” above before you report it again.';

/**
 * Dates the event now, by the service's clock, since this machine's may be wrong. An earlier event is reported over the
 * API, which accepts a time.
 */
const eventOf = (type: string, form: FormData, occurredAt: string): object => {
  const given = Object.fromEntries([...form].filter(([, value]) => value !== ''));
  const { loss_amount: loss, ...rest } = given;
  return { type, occurred_at: occurredAt, ...rest, ...(loss !== undefined && { loss_amount: Number(loss) }) };
};
