/**
 * The log: one JSON object per line. Properties with the name of a secret are removed from logged objects, down to three
 * levels.
 */
import { type Environment, LOG_LEVELS, type LogLevel } from '@svc/config';
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { errorInLog } from './error-in-log.ts';
import { gatherLines, type LogDestination } from './log-destination.ts';

const SECRETS = [
  'authorization',
  'api_key',
  'apiKey',
  'token',
  'adminToken',
  'provisionKeys',
  'grant',
  'proof',
  'body',
  'bodyText',
  'password',
  'privateKey',
  'd',
];

const paths = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const STDOUT = 1;

let output: LogDestination | null = null;

/** Lines of this process's log that could not be written: the disk was full, or nobody read them. */
export const countLostLines = (): number => output?.lostLines() ?? 0;

/** Standard output. What has been written to it when the process ends goes out then. Open it once: it gathers lines. */
export const openLogOutput = (): LogDestination => {
  // Opened by Node, so that a full pipe answers at once.
  process.stdout.on('error', () => {});
  const destination = gatherLines(STDOUT);
  output = destination;
  process.on('exit', () => destination.flushSync());
  return destination;
};

/** `SVC_LOG_LEVEL`. A value that is none is a fault of the configuration, which is read later and says so. */
export const logLevelOf = ({ SVC_LOG_LEVEL: level }: Environment): LogLevel =>
  LOG_LEVELS.find((one) => one === level) ?? 'info';

/** Every line says which process wrote it. */
export const processFields = () => ({ processId: process.pid });

/** `base`: fields of every line. */
export const createLogger = (
  level: Level,
  destination: DestinationStream = openLogOutput(),
  base: Readonly<Record<string, unknown>> | null = null,
): Logger =>
  pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[redacted]' },
      serializers: { err: (error: unknown) => errorInLog(error) },
    },
    destination,
  );
