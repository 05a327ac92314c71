/** Opens the store of cold days, and what packs closed days into it. */
import type { PackDaysDeps, ReadManifest } from '@svc/cold-ledger';
import type { ServiceConfig } from '@svc/config';
import { openObjects, placeMaker } from '@svc/object-store';
import type { ObjectStore, ServiceDeps } from '@svc/service';
import { type ColdPlace, readDayRows } from '@svc/store-pg';
import { workOnThread } from './packing/on-thread.ts';
import { readOnThread } from './reading/read-on-thread.ts';

export interface ColdSources {
  readonly config: Pick<ServiceConfig, 'cold'>;
  readonly databaseUrl: string;
  /** The file that runs `runPackThread`: days are packed and proven on a thread of their own, else on this one. */
  readonly packThread?: URL;
  /** The file that runs `runReadThread`: cold days are read on a thread of their own, else on this one. */
  readonly readThread?: URL;
  /** The operator's own hand: the fence is neither kept nor missed. */
  readonly isOperator?: boolean;
}

export interface OpenedCold {
  /** Reads manifests once `setManifestReader` was called. */
  readonly place: ColdPlace;
  /** The keys by which manifests are verified are read from the database, which is opened after this. */
  setManifestReader(read: ReadManifest): void;
  /** Damage that readers find is told to nobody before this. */
  setDamageNoter(note: NonNullable<ColdPlace['onDamaged']>): void;
  close(): Promise<void>;
}

/** The store of cold days, and the thread on which they are read; null where there is no such store. */
export const openCold = async (
  { config: { cold }, readThread }: ColdSources,
  log: ServiceDeps['log'],
): Promise<OpenedCold | null> => {
  if (cold === null) return null;
  // A start asks nothing of the store: whether that is there, answers or hangs, decisions are made.
  const opened = await openObjects(cold.place, cold.endpoint, { mayMake: false });
  let readManifest: ReadManifest = () => {
    throw new Error('the keys of the service are not known yet');
  };
  let noteDamage: NonNullable<ColdPlace['onDamaged']> = () => {};
  const onEnd = (why: string) => log.warn('cold.thread_ended', { why });
  const reading = readThread ? readOnThread(readThread, { onEnd }) : null;
  return {
    place: {
      ...{ objects: opened.objects, readManifest: (text) => readManifest(text) },
      onDamaged: (...damage) => noteDamage(...damage),
      ...(reading && { readGroup: reading.read }),
    },
    setManifestReader: (read) => {
      readManifest = read;
    },
    setDamageNoter: (note) => {
      noteDamage = note;
    },
    close: async () => {
      await reading?.close();
      opened.close();
    },
  };
};

export const packingOf = (
  service: Omit<PackDaysDeps, 'objects' | 'makePlace' | 'hotDays' | 'graceDays' | 'readDayRows'>,
  { config: { cold }, databaseUrl, packThread }: ColdSources,
  objects: ObjectStore,
): PackDaysDeps | null => {
  if (cold === null) return null;
  const { place, endpoint, hotDays, graceDays } = cold;
  return {
    ...service,
    ...{ objects, makePlace: placeMaker(place, endpoint), hotDays, graceDays },
    readDayRows: (day, work, from) => readDayRows(databaseUrl, day, work, from),
    ...(packThread === undefined ? {} : { work: workOnThread(packThread, { databaseUrl, place, endpoint }) }),
  };
};
