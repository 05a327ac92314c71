/**
 * Grants in force when a database is restored are withheld (protocol §10; decision 103). They may be millions, so that
 * they are marked in steps, each its own transaction, before the one that makes the database decide again: it finds all
 * of them marked, or marks the rest.
 */
import type { ServiceDeps } from '../deps.ts';
import type { WithheldGrant } from '../ports/withheld-grants.ts';

export interface WithholdOptions {
  /** How many Grants a step looks at. */
  readonly step?: number;
  /** Told after each step of how many Grants it is known until then. */
  readonly onProgress?: (what: 'withheld' | 'counted', looked: number) => void;
}

const STEP = 5_000;
/** For one step. A disk that has just been restored may fetch each page from far away. */
const DEADLINE_MS = 60_000;

/** Safe to repeat, and quick where it was done before: what is marked is not written again. */
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
  /** Grants of which something is known that may have gone on in the lost span. */
  readonly inDoubt: number;
  /** Withheld only where they come to draw on a budget for the first time. */
  readonly others: number;
  /** The first of those in doubt. */
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

/** Whether more is in doubt than what a Grant might draw on a budget that it has never drawn on. */
const isInDoubt = ({ isUnbound, budgets }: WithheldGrant): boolean => isUnbound || budgets.length > 0;
