/** A program: a fleet of two processes that do nothing but answer, and whose supervisor looks at them fifty times a second. */
import cluster from 'node:cluster';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Fleet } from '../../src/fleet/fleet.ts';
import { createMemberAdmin, tellListening } from '../../src/fleet/member.ts';

const LOOK_EVERY_MS = 20;
const logger = pino();

if (cluster.isPrimary) {
  const write = (lines: string) => void process.stdout.write(lines);
  const fleet = new Fleet({ count: 2, logger, onOutput: write, watchEveryMs: LOOK_EVERY_MS });
  await fleet.start();
  // Only so that this process stays.
  setInterval(() => {}, 60_000);
  logger.info('listening');
} else {
  const readiness = async () => ({ ok: true, serves: true, checks: {} });
  await createMemberAdmin({ registry: new Registry(), readiness, logger }).listen(0, '');
  logger.info({ processId: process.pid }, 'process.listening');
  await tellListening({ address: '', port: 0 });
}
