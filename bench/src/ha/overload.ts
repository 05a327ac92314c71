/**
 * `npm run ha:overload [-- --seconds N] [--times N] [--share PERCENT]`: more load than the service can carry. First it
 * measures the capacity of two nodes with a PostgreSQL that has a share of one processor, and the answers at half of
 * it. Then it offers `times` that capacity for the given seconds, and half of it again. Ends with 1 when a bar is
 * missed.
 */
import { setPriority } from 'node:os';
import { makeWorld } from '../fixtures/world.ts';
import { Cleanup } from '../harness/cleanup.ts';
import { count, flag, readOptions } from '../harness/command-line.ts';
import { AGENTS } from '../harness/loaded.ts';
import { LoneServer } from './lone-server.ts';
import { Offered } from './offered.ts';
import { makePlace } from './place.ts';
import { say } from './say.ts';
import { startServices } from './services.ts';

const WARM_UP_SECONDS = 8;
const CAPACITY_SECONDS = 15;
/** Length of the phases at half of the capacity, before and after. */
const HALF_SECONDS = 10;
/** Milliseconds after the overload that are not counted. */
const SETTLE_MS = 2_000;
/**
 * Concurrent clients while capacity is measured: enough to keep the database busy, few enough to be answered in time.
 */
const CLIENTS = 48;
/** Megabytes for minutes of decisions: a full disk or a checkpoint every few seconds is not under test. */
const DISK_SIZES = { data: 8_192, wal: 4_096 };
const LEAST_GOODPUT = 0.8;
const MOST_REFUSAL_MS = 250;
/**
 * Nice value of this process: it gets the cores before the nodes, since real callers run elsewhere and do not compete
 * with the service for a processor.
 */
const SENDER_NICE = -10;

const values = readOptions('ha:overload', {
  about: `One PostgreSQL that is held to a share of one processor, two nodes: first what they carry, then several times as many
verifications as that, then half of it. Takes root on Linux with the cpu controller of cgroup v1, some three minutes beside the overload.
`,
  command: 'npm run ha:overload [-- options]',
  options: {
    seconds: count({ default: 300, least: 1, most: 36_000, text: 'of overload' }),
    times: count({ default: 3, least: 1, most: 100, text: 'so many times what was carried is offered' }),
    share: count({ default: 15, least: 1, most: 100, text: 'of one processor for PostgreSQL, per cent' }),
    keep: flag('leave the folder with the logs'),
  },
});

const cleanup = new Cleanup();
try {
  LoneServer.assertCanHold();
  const place = makePlace('svc-ha-overload-', cleanup, values.keep);
  const server = await LoneServer.start(place, { diskSizes: DISK_SIZES });
  const routes = { first: server.url, second: server.url, others: server.url };
  const services = await startServices(place, routes, { hasStandby: false });
  const service = { baseUrl: services.nodes[0]?.origin ?? '', adminToken: services.adminToken };
  const offered = new Offered(services.nodes, await makeWorld(service, AGENTS, 'overload'));
  server.hold(values.share);
  // Processes started so far keep their nice value.
  setPriority(SENDER_NICE);

  await offered.byClients(CLIENTS, WARM_UP_SECONDS);
  const carried = await offered.byClients(CLIENTS, CAPACITY_SECONDS);
  const capacity = carried.perSecond;
  say(`carried by ${CLIENTS} clients: ${carried.describe()}`);
  const before = await offered.atRate(capacity / 2, HALF_SECONDS);
  say(`${(capacity / 2).toFixed(0)}/s offered before: ${before.describe()}`);
  const rate = capacity * values.times;
  const overload = await offered.atRate(rate, values.seconds);
  say(`${rate.toFixed(0)}/s offered for ${values.seconds} s: ${overload.describe()}`);
  say(
    `  sent after they were due: p50 ${overload.behindMs(50).toFixed(0)} ms, p99 ${overload.behindMs(99).toFixed(0)} ms`,
  );
  const minutes = overload.minutes();
  if (minutes.length > 1)
    minutes.forEach((minute, index) => {
      say(`  minute ${index + 1}: ${minute.describe()}`);
    });
  const after = await offered.atRate(capacity / 2, HALF_SECONDS);
  say(`${(capacity / 2).toFixed(0)}/s offered after that: ${after.describe()}`);
  const settled = after.since(SETTLE_MS);
  say(`of these, later than ${SETTLE_MS / 1000} s: ${settled.describe()}`);

  const goodput = overload.perSecond / capacity;
  const bars = {
    [`goodput ${(goodput * 100).toFixed(0)} % of capacity`]: goodput >= LEAST_GOODPUT,
    [`refusals p99 ${overload.refusedMs(99).toFixed(0)} ms`]: overload.refusedMs(99) <= MOST_REFUSAL_MS,
    [`${settled.notAnswered} not answered later than ${SETTLE_MS / 1000} s after it`]:
      settled.notAnswered === 0,
  };
  for (const [what, isMet] of Object.entries(bars)) say(`${what}${isMet ? '' : '  BAR MISSED'}`);
  if (Object.values(bars).includes(false)) process.exitCode = 1;
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
// Connections that a fault has left half open would keep the process running for minutes.
process.exit();
