/**
 * A program: a fleet of two processes that do nothing but answer, and whose supervisor looks at them fifty times a
 * second. While the file that its first parameter names is there, no process can start, as where a token does not take
 * its PIN; while that of the second is there, one that starts stands still, as where a file system does not answer;
 * while that of the third is there, one that has started under it does not decide; while that of the fourth is there, one whose
 * place another has taken is at work until it is to hurry.
 */
import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { startFailureCode } from '@svc/process';
import { RefusedPinError } from '@svc/service';
import { pino } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { Fleet } from '../../src/fleet/fleet.ts';
import { answerSupervisor, createMemberAdmin, tellListening } from '../../src/fleet/member.ts';

const LOOK_EVERY_MS = 20;
const logger = pino();
const [, , refusalFile = '', standstillFile = '', unreadyFile = '', busyFile = ''] = process.argv;
/** Of a start: a loaded machine may take seconds for it. */
const START_LOOKS = 300;

const supervise = async (): Promise<void> => {
  const write = (lines: string) => void process.stdout.write(lines);
  const fleet = new Fleet({
    count: 2,
    logger,
    onOutput: write,
    watchEveryMs: LOOK_EVERY_MS,
    startLooks: START_LOOKS,
  });
  process.on('SIGTERM', () => void fleet.close().then(() => process.exit(0)));
  process.on('SIGUSR2', () => void fleet.metrics().then((text) => logger.info({ text }, 'metrics')));
  process.on('SIGHUP', () => void fleet.restart().then(() => logger.info('restarted')));
  await fleet.start();
  // Only so that this process stays.
  setInterval(() => {}, 60_000);
  logger.info('listening');
};

const work = async (): Promise<void> => {
  logger.info({ processId: process.pid }, 'process.starting');
  const { isHandedOver, hurry } = answerSupervisor();
  process.on('SIGTERM', () => {
    logger.info({ processId: process.pid, isHandedOver: isHandedOver() }, 'process.ending');
    if (!isHandedOver() || !existsSync(busyFile)) process.exit(0);
    hurry.addEventListener('abort', () => {
      logger.info({ processId: process.pid }, 'process.hurried');
      process.exit(0);
    });
  });
  if (existsSync(standstillFile)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (existsSync(refusalFile)) throw new RefusedPinError('the token does not take the PIN');
  const mayBeUnready = existsSync(unreadyFile);
  const readiness = async () => {
    const ok = !(mayBeUnready && existsSync(unreadyFile));
    if (!ok) logger.info({ processId: process.pid }, 'process.unready');
    return { ok, serves: true, checks: {} };
  };
  const registry = new Registry();
  const registers = [registry];
  // Of a process whose replica never was in step.
  new Gauge({ name: 'svc_replica_behind_seconds', help: 'h', registers }).set(Number.POSITIVE_INFINITY);
  await createMemberAdmin({ registry, readiness, logger }).listen(0, '');
  logger.info({ processId: process.pid }, 'process.listening');
  await tellListening({ address: '', port: 0 });
};

(cluster.isPrimary ? supervise() : work()).catch((error: unknown) => process.exit(startFailureCode(error)));
