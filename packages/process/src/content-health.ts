/** Reports in metrics and health the days whose receipts no longer match what was published (protocol §12). */
import { DAY_MS } from '@svc/protocol';
import { type CheckpointRepository, type ColdDayRepository, type Day, withinMs } from '@svc/service';
import type { Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';
import { gauge } from './gauge.ts';

export interface ContentHealth {
  /** `ok`, or the broken days. A broken day makes no node unready: work on other days must go on. */
  describe(): Promise<string>;
}

const NAMED = 5;
const HOUR_MS = DAY_MS / 24;
/** Each closed day is due once in 24 hours. */
const LATE_CHECK_MS = 36 * HOUR_MS;
/** Each cold day is due once a month. */
const LATE_PROOF_MS = 40 * DAY_MS;

export const createContentHealth = (
  registry: Registry,
  checkpoints: Pick<CheckpointRepository, 'listBroken' | 'oldestCheckMs'>,
): ContentHealth =>
  healthOf(registry, {
    broken: {
      name: 'svc_content_broken_days',
      help: 'Published days whose receipts did not lead to their roots when last read; -1: storage does not answer.',
      list: () => checkpoints.listBroken(),
    },
    age: {
      name: 'svc_content_check_age_seconds',
      help: 'Age of the last check of the hot closed day that has waited longest, in which its receipts are read and compared; 0: there is no such day; -1: storage does not answer.',
      readMs: () => checkpoints.oldestCheckMs(),
      lateMs: LATE_CHECK_MS,
      describe: (ageMs) => `a closed day was last read ${Math.floor(ageMs / HOUR_MS)} hours ago`,
    },
  });

/**
 * Days that were due to be packed and do not match what was published, and packed days whose objects were not read back
 * as they were packed.
 */
export const createColdHealth = (
  registry: Registry,
  coldDays: Pick<ColdDayRepository, 'listBroken' | 'oldestProofMs'>,
): ContentHealth =>
  healthOf(registry, {
    broken: {
      name: 'svc_cold_broken_days',
      help: 'Closed days that could not be packed or did not lead to their roots, and packed days whose objects were not read back as packed; -1: storage does not answer.',
      list: async () => (await coldDays.listBroken()).map(({ day }) => day),
    },
    age: {
      name: 'svc_cold_proof_age_seconds',
      help: 'Age of the last proof of the cold day that has waited longest, in which its objects are read; 0: there is no such day; -1: storage does not answer.',
      readMs: () => coldDays.oldestProofMs(),
      lateMs: LATE_PROOF_MS,
      describe: (ageMs) => `a cold day was last proven ${Math.floor(ageMs / DAY_MS)} days ago`,
    },
  });

/** A gauge of the number of broken days, and a gauge of how long ago the longest-waiting day was checked. */
interface Watched {
  readonly broken: {
    readonly name: string;
    readonly help: string;
    readonly list: () => Promise<readonly Day[]>;
  };
  readonly age: {
    readonly name: string;
    readonly help: string;
    /**
     * Time at which the longest-waiting day was last checked, in milliseconds since the epoch; null: there is no such
     * day.
     */
    readonly readMs: () => Promise<number | null>;
    readonly lateMs: number;
    readonly describe: (ageMs: number) => string;
  };
}

const healthOf = (registry: Registry, { broken, age }: Watched): ContentHealth => {
  const brokenDays = () => orNull(broken.list());
  const ageMs = async () => {
    const read = await orNull(age.readMs().then((ms) => ({ ms })));
    if (read === null) return null;
    return read.ms === null ? 0 : Math.max(0, Date.now() - read.ms);
  };
  gauge(registry, broken.name, {
    help: broken.help,
    read: async () => (await brokenDays())?.length ?? -1,
  });
  gauge(registry, age.name, {
    help: age.help,
    read: async () => {
      const ms = await ageMs();
      return ms === null ? -1 : ms / 1000;
    },
  });
  return {
    describe: async () => {
      const [days, ms] = await Promise.all([brokenDays(), ageMs()]);
      if (days === null) return 'unknown';
      if (days.length === 0) return ms !== null && ms > age.lateMs ? age.describe(ms) : 'ok';
      const more = days.length > NAMED ? ` and ${days.length - NAMED} more` : '';
      return `broken: ${days.slice(0, NAMED).join(', ')}${more}`;
    },
  };
};

/** Null if storage does not answer in time. */
const orNull = <T>(answer: Promise<T>): Promise<T | null> =>
  withinMs(HEALTH_ANSWER_MS, answer, () => null).catch(() => null);
