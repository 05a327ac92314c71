/**
 * The log: one JSON object per line. Properties that are named like a secret are removed from logged objects, down to
 * three levels.
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

/** Number of lines of this process's log that could not be written: the disk was full, or the reader had stopped. */
export const countLostLines = (): number => output?.lostLines() ?? 0;

/** Standard output. Gathered lines are written when the process ends. Open it only once, since it gathers lines. */
export const openLogOutput = (): LogDestination => {
  // Using the stream makes Node open the descriptor, so that a full pipe answers at once.
  process.stdout.on('error', () => {});
  const destination = gatherLines(STDOUT);
  output = destination;
  process.on('exit', () => destination.flushSync());
  return destination;
};

/** `SVC_LOG_LEVEL`, or the default for an invalid value: reading the configuration reports that fault later. */
export const logLevelOf = ({ SVC_LOG_LEVEL: level }: Environment): LogLevel =>
  LOG_LEVELS.find((one) => one === level) ?? 'info';

/** Fields of every line: the process that wrote it. */
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
