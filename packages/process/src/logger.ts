/**
 * The log: one JSON object a line. Secrets have names, and whatever carries one of these names is dropped wherever it
 * stands in a logged object, down to three levels.
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
 * Lines are gathered for a tenth of a second, so that logging a request costs no system call of its own. Where they
 * cannot be written, a closed terminal or a full disk, they are lost: that ends no process.
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
