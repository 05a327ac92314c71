/**
 * The thread that packs and proves days. Its heap is bounded: unbounded, its garbage grew to half a gigabyte for a day of 10^6 Receipts. And
 * encoding a row group holds a thread for some tens of milliseconds, which in one process with the API would be those of answers.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type ColdDay, type DayWork, dayWork } from '@svc/cold-ledger';
import { openObjects } from '@svc/object-store';
import { ObjectStoreError, withinMs } from '@svc/service';
import { readDayRows } from '@svc/store-pg';

/** Where days are. */
export interface PackPlaces {
  readonly databaseUrl: string;
  readonly place: string;
  readonly endpoint: string | null;
}

/** One of `DayWork`, with what it is given. */
export type PackTask =
  | { readonly what: 'pack'; readonly day: string }
  | {
      readonly what: 'findProblem';
      readonly manifest: ColdDay;
      readonly published: Parameters<DayWork['findProblem']>[1];
    }
  | { readonly what: 'clear' | 'findLoss'; readonly manifest: ColdDay };

export type PackOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly name: string; readonly kind: string | null; readonly message: string };

/** A mount that does not answer is not waited for. */
const OPEN_MS = 30_000;

/** What the program does that was started as such a thread, and nothing else. Never rejects. */
export const runPackThread = async (): Promise<void> => {
  const { databaseUrl, place, endpoint, task } = workerData as PackPlaces & { readonly task: PackTask };
  let outcome: PackOutcome;
  try {
    const { objects, close } = await withinMs(OPEN_MS, openObjects(place, endpoint), () => {
      throw new ObjectStoreError('unavailable', `${place} was not opened within ${OPEN_MS} ms`);
    });
    try {
      const work = dayWork({
        objects,
        readDayRows: (day, use, from) => readDayRows(databaseUrl, day, use, from),
      });
      outcome = { ok: true, value: await run(work, task) };
    } finally {
      close();
    }
  } catch (error) {
    const { name, message, kind = null } = error as Error & { kind?: string };
    outcome = { ok: false, name, kind, message };
  }
  parentPort?.postMessage(outcome);
};

/** Whoever stops ends the thread. */
const never = new AbortController().signal;

const run = (work: DayWork, task: PackTask): Promise<unknown> => {
  if (task.what === 'pack') return work.pack(task.day, never);
  if (task.what === 'findProblem') return work.findProblem(task.manifest, task.published, never);
  return task.what === 'clear' ? work.clear(task.manifest, never) : work.findLoss(task.manifest, never);
};
