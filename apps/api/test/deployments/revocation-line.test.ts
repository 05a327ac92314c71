/**
 * The log line `revocation` (protocol §10): it is written before the caller is answered that authority was removed,
 * even where all processes are killed right after.
 */
import { withDatabase } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { until } from '@svc/testkit/until';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiProcess, startApiProcesses } from '../world/api-process.ts';
import { call, createTenants, type HeldGrant, issueGrant } from '../world/tenants.ts';

const database = withDatabase();

const start = async (env: Readonly<Record<string, string>>): Promise<ApiProcess> => {
  const { processes, stop } = await startApiProcesses(1, database.url, env);
  const [api] = processes;
  onTestFinished(() => {
    // It would first start processes in place of those that a test has killed.
    api?.signal('SIGKILL');
    return stop();
  });
  return api ?? expect.unreachable();
};

const revokeTwo = async ({ baseUrl }: ApiProcess, afterwards: () => void): Promise<readonly HeldGrant[]> => {
  const tenants = await createTenants(baseUrl);
  const grants = [await issueGrant(tenants), await issueGrant(tenants)];
  const answers = await Promise.all(
    grants.map(({ grantId }) =>
      call(baseUrl, 'POST', '/revoke', { key: tenants.principalKey, body: { grant_id: grantId } }),
    ),
  );
  afterwards();
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  return grants;
};

const expectLines = (api: ApiProcess, grants: readonly HeldGrant[]): void => {
  const lines = api.log.filter((line) => line.includes('"msg":"revocation"')).join('\n');
  for (const { grantId } of grants) expect(lines).toContain(grantId);
};

it.runIf(isDeep)(
  'the log line of a revocation is written before the answer, even if the process is then killed',
  async () => {
    const api = await start({});
    const grants = await revokeTwo(api, () => api.signal('SIGKILL'));
    await api.ended;
    expectLines(api, grants);
  },
);

it('with several processes the supervisor has the log line of a revocation before the answer, and writes it at once', async () => {
  const api = await start({ SVC_PROCESSES: '2' });
  const members = () =>
    api.log
      .filter((line) => line.includes('"msg":"process.listening"'))
      .map((line) => Number(JSON.parse(line).processId));
  await until(() => members().length === 2);
  const grants = await revokeTwo(api, () => {
    for (const pid of members()) process.kill(pid, 'SIGKILL');
  });
  // After an answer of the supervisor it has read everything that was in its pipes before.
  expect((await call(api.adminUrl, 'GET', '/livez')).status).toBe(200);
  api.signal('SIGKILL');
  await api.ended;
  expectLines(api, grants);
}, 60_000);
