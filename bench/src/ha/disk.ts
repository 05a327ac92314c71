/**
 * `npm run ha:disk [-- --fault NAME …] [--rounds N] [--seconds N] [--rate N]`: full or read-only disks of the database,
 * under load. Ends with 1 when anything was lost, when readiness did not say why nothing was decided, or when the
 * service did not recover.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Cleanup } from '../harness/cleanup.ts';
import { count, flag, readOptions, some } from '../harness/command-line.ts';
import { until } from './cluster.ts';
import { describeVerdict, isClean, Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { LoneServer } from './lone-server.ts';
import { makePlace } from './place.ts';
import { say } from './say.ts';
import { type Node, type Services, startServices } from './services.ts';

interface DiskFault {
  readonly title: string;
  /** No supervisor restarts PostgreSQL during the fault: an operator has to mount the disk first. */
  readonly needsOperator?: true;
  readonly isReadOnlyTested?: true;
  begin(server: LoneServer): void;
  end(server: LoneServer): Promise<void>;
}

const FAULTS: Readonly<Record<string, DiskFault>> = {
  data: {
    title: 'the disk with the tables is full',
    begin: ({ data }) => data.fill(),
    end: async ({ data }) => data.clear(),
  },
  wal: {
    title: 'the disk with the log is full',
    begin: ({ wal }) => wal.fill(),
    end: async ({ wal }) => wal.clear(),
  },
  'read-only': {
    title:
      'the disk with the tables turns read-only, and is checked and mounted anew by an operator, with the server stopped',
    isReadOnlyTested: true,
    needsOperator: true,
    begin: ({ data }) => data.turnReadOnly(),
    async end(server) {
      if (!server.hasEnded) await server.stop();
      server.data.repair();
    },
  },
};

const CALM_MS = 5_000;
const LOOK_MS = 500;
const READINESS_MS = 2_000;
const NO_ANSWER = `no answer within ${READINESS_MS / 1_000} s`;

const values = readOptions('ha:disk', {
  about: `One PostgreSQL on small disks of their own, two nodes under load, and a disk that is full or read-only: nothing may be lost,
/readyz must say why, and all must be well afterwards. Takes root on Linux (it mounts), some 45 s a fault.
`,
  command: 'npm run ha:disk [-- options]',
  options: {
    fault: some(Object.keys(FAULTS), 'one of them alone, as often as given: data, wal, read-only'),
    rounds: count({ default: 1, least: 1, most: 1_000, text: 'of each' }),
    seconds: count({ default: 20, least: 1, most: 3_600, text: 'each fault lasts' }),
    rate: count({ default: 40, least: 1, most: 10_000, text: 'verifications a second' }),
    keep: flag('leave the folder with the logs'),
  },
});

const FAULT_MS = values.seconds * 1_000;

/** What readiness reports about storage; null where it reports no fault. */
async function complaintOf({ adminOrigin }: Node): Promise<string | null> {
  const answer = await fetch(`${adminOrigin}/readyz`, { signal: AbortSignal.timeout(READINESS_MS) });
  const { checks } = (await answer.json()) as { checks: { storage: string } };
  // Each message names another file.
  const complaint = checks.storage.replace(/"[^"]*"/, '…');
  return answer.status === 503 && complaint !== 'ok' ? complaint : null;
}

/** Each complaint of either node, with the milliseconds until it first appeared. */
async function listen({ nodes }: Services, untilMs: number): Promise<Map<string, number>> {
  const beganMs = performance.now();
  const heard = new Map<string, number>();
  while (performance.now() < untilMs) {
    const looks = nodes.map((node) => complaintOf(node).catch(() => NO_ANSWER));
    for (const complaint of await Promise.all(looks))
      if (complaint !== null && !heard.has(complaint)) heard.set(complaint, performance.now() - beganMs);
    await delay(LOOK_MS);
  }
  return heard;
}

async function runFault(name: string, fault: DiskFault): Promise<void> {
  say(`${name}: ${fault.title}`);
  const cleanup = new Cleanup();
  const place = makePlace('svc-ha-disk-', cleanup, values.keep);
  try {
    const server = await LoneServer.start(place, fault);
    const routes = { first: server.url, second: server.url, others: server.url };
    const services = await startServices(place, routes, { hasStandby: false });
    const ledger = new Ledger();
    const rates = { verifiesPerSecond: values.rate, revocationsPerSecond: 1.5 };
    const load = await Load.start(services, ledger, name, rates);
    await delay(CALM_MS);
    const before = ledger.answered.length;
    if (fault.needsOperator === undefined) server.supervise();
    fault.begin(server);
    const heard = await listen(services, performance.now() + FAULT_MS);
    const during = ledger.answered.length - before;
    const hasEndedSince = server.hasEnded || server.restarts > 0;
    await fault.end(server);
    const mendedMs = performance.now();
    if (fault.needsOperator && server.hasEnded) await server.run();
    const answered = ledger.answered.length;
    await until('an answer', async () => ledger.answered.length > answered || null);
    const backMs = performance.now() - mendedMs;
    await until('both nodes are ready', async () => {
      const said = await Promise.all(services.nodes.map((node) => complaintOf(node).catch(() => NO_ANSWER)));
      return said.every((one) => one === null) || null;
    });
    await delay(CALM_MS);
    await load.stop();
    const verdict = await ledger.examine(server);
    const { code } = await services.fsck();
    const isReasonGiven = heard.size > (heard.has(NO_ANSWER) ? 1 : 0);
    if (!isClean(verdict) || code !== 0 || !isReasonGiven || heard.has(NO_ANSWER)) process.exitCode = 1;
    const came = fault.needsOperator ? 'was started by hand' : 'was started again by its supervisor';
    say(
      `  ${name}: ${describeVerdict(verdict)}; fsck ${code}; ${during} answered in ${FAULT_MS / 1000} s of it, ${load.failed} given up; ` +
        `${hasEndedSince ? `PostgreSQL ended and ${came}` : 'PostgreSQL went on'}; the first answer ${(backMs / 1000).toFixed(1)} s after the disk was well`,
    );
    for (const [complaint, afterMs] of heard)
      say(`  readyz 503 after ${(afterMs / 1000).toFixed(1)} s: ${complaint}`);
  } finally {
    await cleanup.run();
  }
}

try {
  for (const name of values.fault) {
    const fault = FAULTS[name];
    if (fault === undefined) throw new Error(`--fault is one of ${Object.keys(FAULTS).join(', ')}`);
    for (let round = 0; round < values.rounds; round++) await runFault(name, fault);
  }
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
}
// Connections that a fault has left half open would keep the process running for minutes.
process.exit();
