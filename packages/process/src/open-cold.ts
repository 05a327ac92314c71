/** Opens the store of cold days, and the dependencies that pack closed days into it. */
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
  /**
   * The file that runs `runPackThread`. Given: days are packed and proven on a separate thread; otherwise on this one.
   */
  readonly packThread?: URL;
  /** The file that runs `runReadThread`. Given: cold days are read on a separate thread; otherwise on this one. */
  readonly readThread?: URL;
  /** True: an operator's command, which neither maintains nor requires the fence. */
  readonly isOperator?: boolean;
}

export interface OpenedCold {
  /** Can read manifests once `setManifestReader` was called. */
  readonly place: ColdPlace;
  /**
   * Called later, because the keys that verify manifests are read from the database, which is opened after the store.
   */
  setManifestReader(read: ReadManifest): void;
  /** Before this call, damage that readers find is not reported. */
  setDamageNoter(note: NonNullable<ColdPlace['onDamaged']>): void;
  close(): Promise<void>;
}

/** The store of cold days, and the thread on which they are read; null if there is no such store. */
export const openCold = async (
  { config: { cold }, readThread }: ColdSources,
  log: ServiceDeps['log'],
): Promise<OpenedCold | null> => {
  if (cold === null) return null;
  // A start sends no request to the store: decisions must be possible whether the store exists, answers or hangs.
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
