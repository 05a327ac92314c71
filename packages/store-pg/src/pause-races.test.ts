import type { PauseScope } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { racePauses } from '@svc/testkit/store/pause-races';
import { alterFunction } from '@svc/testkit/store/session';
import { describe, expect, it } from 'vitest';

const RACES = 10_000;
const SCOPES: readonly PauseScope[] = ['grant', 'agent', 'principal', 'relying_party', 'org', 'service'];

const whole = withDatabase();
const slowed = withDatabase();
const unlocked = withDatabase();
const unawaited = withDatabase();

const JUDGED = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';
const PRINCIPAL_LOCK = '(1, hashtext(d.used_principal), false),';

/** A delay in seconds with which few races find the faults of the controls. With 4 ms one sample of eight did. */
const LONG = 0.05;
/** Delays commits between judging and storing, so that a pause can come in between. */
const slowDown = (url: string, seconds: number) =>
  alterFunction(url, 'svc_commit_decisions', JUDGED, `  perform pg_sleep(${seconds});\n${JUDGED}`);

describe('racing pauses against decisions through two nodes', () => {
  it.runIf(isDeep)(
    `in ${RACES} races no decision is committed after an acknowledgement without having seen it, or dated after it`,
    async () => {
      const report = await racePauses(whole.url, { races: RACES, scopes: SCOPES });
      expect(report.breaches).toEqual([]);
      expect(report.stored).toBeGreaterThan(RACES);
      expect(report.refused).toBeGreaterThan(0);
    },
    14_400_000,
  );

  it('no decision is committed after an acknowledgement without having seen it, or dated after it, if commits are delayed between judging and storing', async () => {
    await slowDown(slowed.url, sampled({ quick: LONG, deep: 0.004 }));
    const races = sampled({ quick: SCOPES.length, deep: 120 });
    const report = await racePauses(slowed.url, { races, scopes: SCOPES });
    expect(report.breaches).toEqual([]);
    expect(report.stored).toBeGreaterThan(races);
    expect(report.refused).toBeGreaterThan(0);
  }, 120_000);

  it('finds such decisions if commits take no lock of the Principal: the test can fail', async () => {
    await slowDown(unlocked.url, LONG);
    await alterFunction(unlocked.url, 'svc_take_locks', PRINCIPAL_LOCK, '');
    const scopes = ['grant', 'agent', 'principal'] as const;
    const report = await racePauses(unlocked.url, { races: 1_000, scopes, untilBreach: true });
    expect(report.breaches).not.toEqual([]);
  }, 120_000);

  it('finds such decisions if pauses do not wait for the commits under way: the test can fail', async () => {
    await slowDown(unawaited.url, LONG);
    await alterFunction(
      unawaited.url,
      'svc_await_commits',
      'while v_waiting is not null loop',
      'while false loop',
    );
    const scopes = ['relying_party', 'org', 'service'] as const;
    const report = await racePauses(unawaited.url, { races: 1_000, scopes, untilBreach: true });
    expect(report.breaches).not.toEqual([]);
  }, 120_000);
});
