/** Starts runner processes and endpoints for them, and inserts waiting runs into a database. */
import { randomBytes } from 'node:crypto';
import type { ConformanceReport } from '@svc/conformance';
import { encodeUlid, type Sha256 } from '@svc/protocol';
import type { Store } from '@svc/service';
import { programFile } from '@svc/testkit/process/program-file';
import { type Program, startProgram } from '@svc/testkit/process/start-program';
import { until } from '@svc/testkit/until';
import { onTestFinished } from 'vitest';

export type RunnerProcess = Program;

export interface RunnerOptions {
  readonly databaseUrl: string;
  readonly hosts?: Readonly<Record<string, string>>;
  readonly parameters?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const start = ({ databaseUrl, hosts = {}, parameters = [], env = {} }: RunnerOptions): RunnerProcess =>
  startProgram(
    programFile('apps/conformance-runner'),
    {
      DATABASE_URL: databaseUrl,
      SVC_BASE_URL: 'http://svc.example',
      SVC_ADMIN_PORT: '0',
      SVC_OUTBOUND_MAP: JSON.stringify(hosts),
      ...env,
    },
    parameters,
  );

/** The process is killed at the end of the test. */
export const startRunner = (options: RunnerOptions): RunnerProcess => {
  const runner = start(options);
  onTestFinished(async () => {
    runner.signal('SIGKILL');
    await runner.ended;
  });
  return runner;
};

/** Executes all waiting runs. If it fails, the error message contains the runner's log. */
export const runOnce = async (options: Omit<RunnerOptions, 'parameters'>): Promise<void> => {
  const runner = start({ ...options, parameters: ['--once'] });
  const code = await runner.ended;
  if (code !== 0) throw new Error(`exit ${code}:\n${runner.log.join('\n')}`);
};

/** Inserts a run of a new account, as the API stores it. */
export const insertRun = async (store: Store, endpoint: string): Promise<string> => {
  const runId = `cfr_${encodeUlid(Date.now(), randomBytes(10))}`;
  const vectors = { sha256: `sha256:${'0'.repeat(64)}` as Sha256, conformanceVersion: '0.0.0' };
  const run = await store.conformanceRuns.insert({
    runId,
    account: `rp ${runId}`,
    keyId: 'key',
    endpoint,
    vectors,
    tenant: { crowd: 'tenants', org: runId },
  });
  if (run === null) throw new Error('the account has a run');
  return runId;
};

export const readRun = async (store: Store, runId: string) => {
  const run = await store.conformanceRuns.find(runId);
  if (run === null) throw new Error('no such run');
  const { reportText, ...rest } = run;
  return { ...rest, report: reportText === null ? null : (JSON.parse(reportText) as ConformanceReport) };
};

/** Waits for an effect of the runner; rejects with the runner's log if the runner ends before. */
export const untilRunner = async (
  { log, ended }: RunnerProcess,
  condition: () => boolean | Promise<boolean>,
): Promise<void> => {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(async () => {
    if (await condition()) return true;
    if (isOver) throw new Error(`the runner ended:\n${log.join('\n')}`);
    return false;
  });
};
