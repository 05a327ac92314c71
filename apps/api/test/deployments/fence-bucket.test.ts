/** A bucket that ignores conditions is no fence: no process decides with it, and `svc-admin config check` names it. */
import { withDatabase } from '@svc/testkit';
import { startS3Server } from '@svc/testkit/s3-server';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, afterEach, expect, it } from 'vitest';
import { nodeEnv, startApiNodes } from '../world/api-node.ts';
import { readiness, until } from '../world/fence.ts';
import { runProgramBeside } from '../world/run-program.ts';

const database = withDatabase();
const s3 = await startS3Server('fences');
// The SDK reads them from the environment of the process, which is this one for a node of a test.
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
Object.assign(process.env, CREDENTIALS);
afterAll(() => s3.stop());
afterEach(() => s3.behave('well'));
const ENV = {
  ...{ SVC_FENCE: 's3://fences/svc', SVC_FENCE_ENDPOINT: s3.endpoint, SVC_FENCE_MAX_AGE_MS: '5000' },
  ...CREDENTIALS,
};
const REFUSAL = 'the bucket that SVC_FENCE names does not refuse a write whose condition does not hold';
// The bucket is in this process.
const configCheck = () => runProgramBeside('apps/admin', ['config', 'check'], nodeEnv(database.url, ENV));

it('a node on a bucket that ignores conditions is not ready, says why, and makes no beat', async () => {
  s3.behave('unconditional');
  const api = await startApiNodes(1, database.url, ENV);
  const [node] = api.processes;
  if (node === undefined) throw new Error('one node');
  await until(async () => (await readiness(node)).checks.fence?.includes(REFUSAL) === true);
  const { status, checks } = await readiness(node);
  expect([status, checks.fence]).toEqual([503, expect.stringContaining(`not confirmed yet: ${REFUSAL}`)]);
  expect([[...s3.objects.keys()], await runSql(database.url, 'select from fence_beats')]).toEqual([
    ['svc/probe'],
    [],
  ]);
  await api.stop();
}, 60_000);

it('svc-admin config check reports such a bucket as a fault, one that obeys as sound, and one that it may only read as not checked', async () => {
  s3.behave('unconditional');
  expect(await configCheck()).toMatchObject({
    status: 1,
    out: expect.stringMatching(new RegExp(`^FAULT {2}writes to the fence's bucket:\\n {7}${REFUSAL}`, 'm')),
  });
  s3.behave('forbid');
  expect(await configCheck()).toMatchObject({
    status: 0,
    out: expect.stringMatching(
      /^- {6}writes to the fence's bucket: not checked: the credentials do not allow/m,
    ),
  });
  s3.behave('well');
  expect(await configCheck()).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^ok {5}writes to the fence's bucket$/m),
  });
}, 60_000);
