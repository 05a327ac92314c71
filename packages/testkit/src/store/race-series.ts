import type { Store } from '@svc/service';
import pg from 'pg';
import { openStore } from './open-store.ts';

export interface SeriesOptions {
  readonly races: number;
  /** Ends the series at the first breach. */
  readonly untilBreach?: boolean;
}

/** What each race uses: two stores on one database, and a session that sees what they have committed. */
export interface RaceCourse {
  readonly stores: readonly [Store, Store];
  readonly observer: pg.Client;
}

/** Numbers of stored and refused decisions, and each breach of the tested promise. */
export interface RaceReport {
  readonly stored: number;
  readonly refused: number;
  readonly breaches: readonly string[];
}

/** Runs one race after another and adds up their reports. */
export async function runSeries(
  databaseUrl: string,
  { races, untilBreach = false }: SeriesOptions,
  raceOnce: (course: RaceCourse, race: number) => Promise<RaceReport>,
): Promise<RaceReport> {
  const stores = [openStore(databaseUrl), openStore(databaseUrl)] as const;
  const observer = new pg.Client({ connectionString: databaseUrl });
  await observer.connect();
  const report = { stored: 0, refused: 0, breaches: [] as string[] };
  try {
    for (let race = 0; race < races; race++) {
      const { stored, refused, breaches } = await raceOnce({ stores, observer }, race);
      report.stored += stored;
      report.refused += refused;
      report.breaches.push(...breaches);
      if (untilBreach && report.breaches.length > 0) break;
    }
    return report;
  } finally {
    await Promise.all([observer.end(), ...stores.map((store) => store.close())]);
  }
}
