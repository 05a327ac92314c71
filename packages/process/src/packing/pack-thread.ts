/**
 * The thread that packs and proves days. Its heap is limited: without a limit, its garbage grew to half a gigabyte for
 * a day of 10^6 Receipts. Encoding a row group occupies a thread for some tens of milliseconds; on the main thread of
 * an API process, answers would be delayed by that time.
 */
import { on } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import {
  type ColdDay,
  type DayWork,
  dayWork,
  readBackDay,
  type TableObject,
  writeDay,
} from '@svc/cold-ledger';
import { openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { readDayRows } from '@svc/store-pg';

/** The database and the store of the days. */
export interface PackPlaces {
  readonly databaseUrl: string;
  readonly place: string;
  readonly endpoint: string | null;
}

/**
 * One call of `DayWork` with its parameters. Packing takes two tasks: the first sends the objects it has stored to the
 * second over the port, and null at the end.
 */
export type PackTask =
  | { readonly what: 'write'; readonly day: string; readonly objects: MessagePort }
  | { readonly what: 'readBack'; readonly objects: MessagePort }
  | {
      readonly what: 'findProblem';
      readonly manifest: ColdDay;
      readonly published: Parameters<DayWork['findProblem']>[1];
    }
  | { readonly what: 'clear' | 'findLoss'; readonly manifest: ColdDay };

export interface PackThreadData extends PackPlaces {
  readonly task: PackTask;
  /** Places shared by the threads of the process, since the mount may hang for all of them at once. */
  readonly filePlaces: SharedArrayBuffer;
}

export type PackOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly name: string; readonly kind: string | null; readonly message: string };

/** The whole work of a program that was started as such a thread. Never rejects. */
export const runPackThread = async (): Promise<void> => {
  const { databaseUrl, place, endpoint, task, filePlaces } = workerData as PackThreadData;
  let outcome: PackOutcome;
  try {
    const { objects, close } = await openObjects(place, endpoint, { mayMake: false, places: filePlaces });
    try {
      outcome = { ok: true, value: await run(objects, databaseUrl, task) };
    } finally {
      close();
    }
  } catch (error) {
    const { name, message, kind = null } = error as Error & { kind?: string };
    outcome = { ok: false, name, kind, message };
  }
  parentPort?.postMessage(outcome);
};

/** To stop the work, the starter terminates the thread. */
const never = new AbortController().signal;

const run = async (store: ObjectStore, databaseUrl: string, task: PackTask): Promise<unknown> => {
  if (task.what === 'readBack') return readBackDay(store, received(task.objects));
  if (task.what === 'write') {
    const { day, objects } = task;
    const onObject = (object: TableObject) => objects.postMessage(object);
    const written = await readDayRows(databaseUrl, day, (rows) => writeDay(store, day, rows, { onObject }));
    objects.postMessage(null);
    return written;
  }
  const work = dayWork({
    objects: store,
    readDayRows: (day, use, from) => readDayRows(databaseUrl, day, use, from),
  });
  if (task.what === 'findProblem') return work.findProblem(task.manifest, task.published, never);
  return task.what === 'clear' ? work.clear(task.manifest, never) : work.findLoss(task.manifest, never);
};

async function* received(port: MessagePort): AsyncGenerator<TableObject> {
  for await (const [object] of on(port, 'message') as AsyncIterable<[TableObject | null]>) {
    if (object === null) return;
    yield object;
  }
}
