/** Days whose receipts are no longer what was published (protocol §12), where an operator looks: metrics and health. */
import { DAY_MS } from '@svc/protocol';
import { type CheckpointRepository, type ColdDayRepository, type Day, withinMs } from '@svc/service';
import type { Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';
import { gauge } from './gauge.ts';

export interface ContentHealth {
  /** `ok`, or which days are broken. A broken day makes no node unready: the others must go on. */
  describe(): Promise<string>;
}

const NAMED = 5;

export const createContentHealth = (
  registry: Registry,
  checkpoints: Pick<CheckpointRepository, 'listBroken'>,
): ContentHealth =>
  brokenDays(
    registry,
    {
      name: 'svc_content_broken_days',
      help: 'Published days whose receipts did not lead to their roots when last read; -1: storage does not answer.',
    },
    () => checkpoints.listBroken(),
  );

/** Days that were to be packed and are not what was published, and packed ones that were not read back as they were packed. */
export const createColdHealth = (
  registry: Registry,
  coldDays: Pick<ColdDayRepository, 'listBroken' | 'oldestProofMs'>,
): ContentHealth => {
  const proofAgeMs = () =>
    withinMs(HEALTH_ANSWER_MS, coldDays.oldestProofMs(), () => {
      throw new Error('no answer');
    })
      .then((ms) => (ms === null ? 0 : Math.max(0, Date.now() - ms)))
      .catch(() => null);
  gauge(registry, 'svc_cold_proof_age_seconds', {
    help: 'How long ago the objects were last read and proven of the cold day that waits the longest; 0: there is none; -1: storage does not answer.',
    read: async () => {
      const ageMs = await proofAgeMs();
      return ageMs === null ? -1 : ageMs / 1000;
    },
  });
  const broken = brokenDays(
    registry,
    {
      name: 'svc_cold_broken_days',
      help: 'Closed days that could not be packed or did not lead to their roots, and packed ones not read back as packed; -1: storage does not answer.',
    },
    async () => (await coldDays.listBroken()).map(({ day }) => day),
  );
  return {
    async describe() {
      const [days, ageMs] = await Promise.all([broken.describe(), proofAgeMs()]);
      const isLate = days === 'ok' && ageMs !== null && ageMs > LATE_PROOF_MS;
      return isLate ? `a cold day was last proven ${Math.floor(ageMs / DAY_MS)} days ago` : days;
    },
  };
};

/** Each is due once a month. */
const LATE_PROOF_MS = 40 * DAY_MS;

const brokenDays = (
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
  list: () => Promise<readonly Day[]>,
): ContentHealth => {
  const broken = () => withinMs(HEALTH_ANSWER_MS, list(), () => null).catch(() => null);
  gauge(registry, name, { help, read: async () => (await broken())?.length ?? -1 });
  return {
    describe: async () => {
      const days = await broken();
      if (days === null) return 'unknown';
      if (days.length === 0) return 'ok';
      const more = days.length > NAMED ? ` and ${days.length - NAMED} more` : '';
      return `broken: ${days.slice(0, NAMED).join(', ')}${more}`;
    },
  };
};
