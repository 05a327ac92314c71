/**
 * A thief of a Grant must not be able to keep its owner from revoking it. Ten orgs use all capacity that they can get,
 * and a Principal beside them revokes as if it were alone (protocol §13, decision 23). `npm run bench -- revocations`
 * measures the times; `rate-limits.test.ts` and the tests of the frame show what a flood of one tenant is refused.
 */
import { sampled } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { withProcesses } from '../world/deployment.ts';
import { createHostileTenants } from '../world/hostile-tenants.ts';
import { call, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const ORGS = 10;
/** Below the limit of 120 calls a minute of one key, including allocations. */
const REVOKES = sampled({ quick: 3, deep: 55 });
/** Milliseconds for which the Principal's client library waits. */
const DEADLINE_MS = 10_000;

describe.each(sampled({ quick: [2], deep: [1, 2] }))(
  'beside ten orgs at full rate, on %i node(s),',
  (nodes) => {
    const deployment = withProcesses({}, nodes);

    it('every revocation of a Principal is answered 200 within its deadline', async () => {
      const hostile = await createHostileTenants(deployment, ORGS);
      const victim = await deployment.createTenants({ orgId: await deployment.createOrg() });
      const grants = [];
      for (let i = 0; i < REVOKES; i++) grants.push(await issueGrant(victim));

      await hostile.start();
      const answers = [];
      for (const [i, { grantId }] of grants.entries()) {
        const { baseUrl } = deployment.processes[i % nodes] ?? deployment.process;
        const beganAt = performance.now();
        const options = { key: victim.principalKey, body: { grant_id: grantId } };
        const { status } = await call(baseUrl, 'POST', '/revoke', options);
        const tookMs = Math.round(performance.now() - beganAt);
        answers.push({ status, inTime: tookMs <= DEADLINE_MS, tookMs });
      }
      const beside = await hostile.stop();

      expect(answers.filter(({ status, inTime }) => status !== 200 || !inTime)).toEqual([]);
      expect(beside[200]).toBeGreaterThan(REVOKES);
      const [grant] = grants;
      if (grant === undefined) throw new Error('no Grant');
      const body = await verifyBody(victim, grant);
      const receipt = receiptOf(await deployment.call('POST', '/verify', { key: victim.rpKey, body }));
      expect(receipt.reason).toBe('AUTHORITY_REVOKED');
    }, 240_000);
  },
);
