/**
 * Withholds the Grants that are in force when a database is restored (protocol §10; decision 103). There may be
 * millions, so they are marked in steps, each in its own transaction. This is before the transaction that lets the
 * database decide again, which marks any that are left.
 */
import type { ServiceDeps } from '../deps.ts';
import type { WithheldGrant } from '../ports/withheld-grants.ts';

export interface WithholdOptions {
  /** Number of Grants that a step reads. */
  readonly step?: number;
  /** Called after each step with the number of Grants that were read so far. */
  readonly onProgress?: (what: 'withheld' | 'counted', looked: number) => void;
}

const STEP = 5_000;
/** Deadline of one step. A disk that was just restored may fetch each page from remote storage. */
const DEADLINE_MS = 60_000;

/** Safe to repeat, and fast where it was done before: a marked Grant is not written again. */
export const withholdGrants = async (
  { store }: Pick<ServiceDeps, 'store'>,
  epoch: number,
  { step = STEP, onProgress = () => {} }: WithholdOptions,
): Promise<void> => {
  let looked = 0;
  for (let after: string | null = ''; after !== null; ) {
    const afterId: string = after;
    const page = await store.transaction(
      ({ withheldGrants }) => withheldGrants.withhold(epoch, afterId, step),
      {
        deadlineMs: DEADLINE_MS,
      },
    );
    looked += page.looked;
    onProgress('withheld', looked);
    after = page.looked < step ? null : page.lastId;
  }
};

export interface WithheldGrants {
  /** Number of Grants that are unbound or have drawn on a budget, so that the lost span may have changed that. */
  readonly inDoubt: number;
  /** Number of the other Grants. They are withheld only where they would draw on a budget for the first time. */
  readonly others: number;
  /** The first Grants in doubt, at most 20. */
  readonly named: readonly WithheldGrant[];
}

const NAMED = 20;

export const countWithheld = async (
  { store }: Pick<ServiceDeps, 'store'>,
  { step = STEP, onProgress = () => {} }: WithholdOptions,
): Promise<WithheldGrants> => {
  const named: WithheldGrant[] = [];
  let [inDoubt, looked] = [0, 0];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const afterId: string = after;
    const page = await store.transaction(({ withheldGrants }) => withheldGrants.list(afterId, step), {
      deadlineMs: DEADLINE_MS,
    });
    const doubted = page.filter(isInDoubt);
    named.push(...doubted.slice(0, NAMED - named.length));
    inDoubt += doubted.length;
    looked += page.length;
    onProgress('counted', looked);
    after = page.length < step ? undefined : page.at(-1)?.id;
  }
  return { inDoubt, others: looked - inDoubt, named };
};

/** Whether more is in doubt than draws on a budget that the Grant has never drawn on. */
const isInDoubt = ({ isUnbound, budgets }: WithheldGrant): boolean => isUnbound || budgets.length > 0;
