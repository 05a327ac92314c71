/**
 * The log: one JSON object per line. Properties with the name of a secret are removed from logged objects, down to three
 * levels.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { errorInLog } from './error-in-log.ts';

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

/**
 * Lines are buffered for 100 ms, so that logging a request costs no system call. If they cannot be written (closed
 * terminal, full disk) they are lost; the process continues.
 */
const gathered = () =>
  pino.destination({ sync: false, minLength: 4096, periodicFlush: 100 }).on('error', () => {});

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
