/**
 * A worker is killed (SIGKILL) at any statement of any job, alone or with a second one beside it. The next round
 * repairs all that is left: at the end the database equals that of an undisturbed run, and has no fault.
 *
 * Each statement is tried in two ways (in a sample, in one of them): the process dies before the statement reaches the
 * server, and after it was executed but before its answer arrives. Some of the statements are tried, evenly spread;
 * SVC_KILL_AT=all tries every one (up to half an hour).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase, type Fault } from '@svc/fsck';
import { withDatabase } from '@svc/testkit';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { untilAlone } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker, type WorkerProcess } from '../harness.ts';
import { onCopy } from './copies.ts';
import { type Cut, startKillingProxy } from './killing-proxy.ts';
import { HOSTS_PROGRAM, type HostsProcess, startHostsProcess } from './start-hosts.ts';
import { readWholeState, type WholeState } from './whole-state.ts';
import { makeWorkForEveryJob } from './work-for-every-job.ts';

/** Number of statements that are tried alone, and beside a second worker. */
const [ALONE, BESIDE] =
  process.env.SVC_KILL_AT === 'all'
    ? [Number.POSITIVE_INFINITY, 100]
    : sampled({ quick: [1, 1], deep: [12, 5] });

const prepared = withDatabase();
const hostsProgram = withSourceProgram(HOSTS_PROGRAM);
const keysDir = mkdtempSync(join(tmpdir(), 'svc-worker-kill-'));
let hosts: HostsProcess;
let names: Readonly<Record<string, string>>;
let expected: WholeState;
/** Number of statements of an undisturbed round. */
let statements: number;

beforeAll(async () => {
  const answers = await makeWorkForEveryJob({ databaseUrl: prepared.url, keysDir });
  hosts = await startHostsProcess(hostsProgram(), answers);
  names = Object.fromEntries(Object.keys(answers).map((name) => [name, hosts.url]));
  const before = await readWholeState(prepared.url);
  expected = await onCopy(prepared.url, async (url) => {
    const proxy = await startKillingProxy(url, null, () => {});
    const first = startOnce(proxy.url);
    const code = await first.ended;
    statements = proxy.statements();
    await proxy.close();
    if (isDeep || code !== 0 || hasLeft(first)) await runToTheEnd(url);
    return readWholeState(url);
  });
  expect(listChanged(before, expected)).toEqual(expect.arrayContaining(EVERY_JOB_CHANGES));
}, 60_000);
afterAll(() => {
  hosts?.stop();
  rmSync(keysDir, { recursive: true, force: true });
});

/** Changes that an undisturbed round must make, which show that every job had work. */
const EVERY_JOB_CHANGES = `
  audit_events checkpoints closed_days conformance_runs content_checks evidence grants idempotency_keys loose_evidence
  merkle_tiles partitions principal_keys principals receipts relying_parties service_keys spent_proofs status_lists usage_by_day usage_by_key
  usage_by_principal usage_counts`
  .trim()
  .split(/\s+/);

const listChanged = (before: WholeState, after: WholeState): string[] =>
  Object.keys(after).filter((table) => JSON.stringify(before[table]) !== JSON.stringify(after[table]));

const startOnce = (databaseUrl: string): WorkerProcess =>
  startWorker({ databaseUrl, keysDir, hosts: names, parameters: ['--once'] });

/** Log lines about work that a round leaves to the next. */
const LEFT = /"msg":"(job\.failed|[a-z_]+\.not_[a-z_]+)"/;

const hasLeft = ({ log }: WorkerProcess): boolean => log.some((line) => LEFT.test(line));

/** Runs rounds until one leaves no work: on a machine under load even an undisturbed worker loses connections. */
const runToTheEnd = async (databaseUrl: string): Promise<void> => {
  for (let round = 1; ; round++) {
    const worker = startOnce(databaseUrl);
    const code = await worker.ended;
    if (code === 0 && !hasLeft(worker)) return;
    if (round === 10) throw new Error(`exit ${code}:\n${worker.log.join('\n')}`);
  }
};

/** True: the worker was alive at that statement. False: its round had fewer statements. */
const runAndKill = async (url: string, cut: Cut): Promise<boolean> => {
  let worker: WorkerProcess | null = null;
  let isKilled = false;
  const proxy = await startKillingProxy(url, cut, () => {
    isKilled = true;
    worker?.signal('SIGKILL');
  });
  worker = startOnce(proxy.url);
  await worker.ended;
  await proxy.close();
  return isKilled;
};

const expectUndisturbed = async (url: string, what = 'undisturbed'): Promise<void> => {
  await untilAlone(url);
  await runToTheEnd(url);
  const state = await readWholeState(url);
  for (const table of Object.keys({ ...expected, ...state }))
    expect(state[table], `${what}: ${table}`).toEqual(expected[table]);
  const faults: Fault[] = [];
  await checkDatabase({ databaseUrl: url, onFault: (fault) => faults.push(fault) });
  expect(faults, what).toEqual([]);
};

/** Statements at which to kill, evenly spread over a round. */
const spread = (count: number): number[] => {
  const taken = Math.min(count, statements);
  return Array.from({ length: taken }, (_, i) => 1 + Math.floor(((i + 0.5) * statements) / taken));
};

const WHEN = ['before', 'after'] as const;

it.runIf(isDeep)(
  'an undisturbed round leaves no fault, and no work for the next round',
  async () => {
    await onCopy(prepared.url, async (url) => {
      await runToTheEnd(url);
      await expectUndisturbed(url);
    });
  },
  60_000,
);

it('after a worker was killed at any statement, later rounds reach the state of an undisturbed round', async () => {
  const both = spread(ALONE).flatMap((statement) => WHEN.map((when) => ({ statement, when })));
  const cuts = sampled({ quick: both.slice(-1), deep: both });
  let killed = 0;
  await twoAtATime(cuts, (cut) =>
    onCopy(prepared.url, async (url) => {
      if (await runAndKill(url, cut)) killed += 1;
      await expectUndisturbed(url, describe(cut));
    }),
  );
  // On a slow machine a round has some more statements, because it checks from time to time whether its locks are still
  // held.
  expect(killed).toBeGreaterThan(0.9 * cuts.length);
}, 3_600_000);

it.runIf(isDeep)(
  'after a worker was killed beside a second worker, later rounds reach the state of an undisturbed round',
  async () => {
    const cuts = spread(BESIDE).map((statement, i) => ({ statement, when: WHEN[i % 2] ?? 'before' }));
    await twoAtATime(cuts, (cut) =>
      onCopy(prepared.url, async (url) => {
        const second = startOnce(url);
        // The round may end before that statement if the second worker did the work.
        await runAndKill(url, cut);
        await second.ended;
        await expectUndisturbed(url, describe(cut));
      }),
    );
  },
  3_600_000,
);

const describe = ({ statement, when }: Cut): string => `killed ${when} statement ${statement}`;

const twoAtATime = async (cuts: readonly Cut[], work: (cut: Cut) => Promise<void>): Promise<void> => {
  const left = cuts.values();
  const lane = async () => {
    for (const cut of left) await work(cut);
  };
  await Promise.all([lane(), lane()]);
};
