import { withDatabase } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { raceRevocations } from '@svc/testkit/store/revocation-races';
import { alterFunction } from '@svc/testkit/store/session';
import { describe, expect, it } from 'vitest';

const RACES = 300;

const whole = withDatabase();
const slowed = withDatabase();
const unlocked = withDatabase();

const JUDGED = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';
const PRINCIPAL_LOCK = '(1, hashtext(d.used_principal), false),';

/** A delay in seconds with which few races find the fault of the control. With 4 ms one sample of five did. */
const LONG = 0.05;
/** Delays commits between judging and storing, so that a revocation can come in between. */
const slowDown = (url: string, seconds: number) =>
  alterFunction(url, 'svc_commit_decisions', JUDGED, `  perform pg_sleep(${seconds});\n${JUDGED}`);

describe('racing revocations against decisions through two nodes', () => {
  it.runIf(isDeep)(
    `in ${RACES} races no ALLOW is committed after the acknowledgement or dated after the stamp`,
    async () => {
      const report = await raceRevocations(whole.url, { races: RACES });
      expect(report.breaches).toEqual([]);
      expect(report.stored).toBeGreaterThan(RACES);
      expect(report.refused).toBeGreaterThan(0);
    },
    120_000,
  );

  it('no ALLOW is committed after the acknowledgement or dated after the stamp, if commits are delayed between judging and storing', async () => {
    await slowDown(slowed.url, sampled({ quick: LONG, deep: 0.004 }));
    const races = sampled({ quick: 4, deep: 60 });
    const report = await raceRevocations(slowed.url, { races });
    expect(report.breaches).toEqual([]);
    expect(report.stored).toBeGreaterThan(races);
    expect(report.refused).toBeGreaterThan(0);
  }, 120_000);

  it('finds such an ALLOW if commits take no lock of the Principal: the test can fail', async () => {
    await slowDown(unlocked.url, LONG);
    await alterFunction(unlocked.url, 'svc_take_locks', PRINCIPAL_LOCK, '');
    const report = await raceRevocations(unlocked.url, { races: 1_000, untilBreach: true });
    expect(report.breaches).not.toEqual([]);
  }, 120_000);
});
