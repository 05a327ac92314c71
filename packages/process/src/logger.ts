/**
 * The log: one JSON object per line. Properties with the name of a secret are removed from logged objects, down to three
 * levels.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { errorInLog } from './error-in-log.ts';
import { gatherLines } from './log-destination.ts';

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

/** What has been logged when the process ends is written then. */
const gathered = (): DestinationStream => {
  // Opened by Node, so that a full pipe answers at once.
  process.stdout.on('error', () => {});
  const destination = gatherLines(STDOUT);
  process.on('exit', () => destination.flushSync());
  return destination;
};

export const createLogger = (level: Level, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[redacted]' },
      serializers: { err: (error: unknown) => errorInLog(error) },
    },
    destination ?? gathered(),
  );
