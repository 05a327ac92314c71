/**
 * A program: a fleet of two processes that only answer, checked by their supervisor fifty times a second. Each
 * parameter names a file; while that file exists:
 * - first: no process can start, as where a token refuses its PIN;
 * - second: a process that starts blocks, as where a file system does not answer;
 * - third: a process that started while it existed is not ready;
 * - fourth: a process that has been replaced keeps working until it is told to hurry.
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
/** Number of checks that a start may take: on a loaded machine it may take seconds. */
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
  // Keeps this process alive.
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
  // The value of a process whose replica was never in step.
  new Gauge({ name: 'svc_replica_behind_seconds', help: 'h', registers }).set(Number.POSITIVE_INFINITY);
  await createMemberAdmin({ registry, readiness, logger }).listen(0, '');
  logger.info({ processId: process.pid }, 'process.listening');
  await tellListening({ address: '', port: 0 });
};

(cluster.isPrimary ? supervise() : work()).catch((error: unknown) => process.exit(startFailureCode(error)));
