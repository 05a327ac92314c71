/** The options of `svc-conformance`. Whatever does not fit is a usage error. */
import { assertAllowed, isProtected, parseOptions, UsageError } from '../options.ts';

const OPTIONS = {
  json: { type: 'boolean', default: false },
  junit: { type: 'string' },
  vectors: { type: 'string' },
  timeout: { type: 'string' },
  deadline: { type: 'string' },
  strict: { type: 'boolean', default: false },
  insecure: { type: 'boolean', default: false },
  quiet: { type: 'boolean', short: 'q', default: false },
  host: { type: 'string' },
  port: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const;

const RUN_OPTIONS = ['json', 'junit', 'vectors', 'timeout', 'deadline', 'strict', 'insecure', 'quiet'];
const SERVE_OPTIONS = ['host', 'port'];
const MAX_URL_CHARS = 2048;
const MAX_SECONDS = 600;

export interface RunCommand {
  readonly name: 'run';
  readonly url: string;
  readonly json: boolean;
  /** A file for the JUnit report; undefined for none. */
  readonly junit: string | undefined;
  /** A folder; undefined for the published set. */
  readonly vectors: string | undefined;
  readonly requestMs: number | undefined;
  readonly runMs: number | undefined;
  /** What the endpoint does not support counts as failed. */
  readonly strict: boolean;
  readonly quiet: boolean;
}

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'serve'; readonly host: string; readonly port: number }
  | RunCommand;

/** Throws UsageError with what is wrong and what is right. */
export const parseCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseOptions(args, OPTIONS);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [name, ...rest] = positionals;
  if (name !== 'run' && name !== 'serve')
    throw new UsageError(`the command must be run or serve${name === undefined ? '' : `, not ${name}`}`);
  const allowed = name === 'run' ? RUN_OPTIONS : SERVE_OPTIONS;
  assertAllowed(values, allowed, name);
  return name === 'run' ? runCommand(values, rest) : serveCommand(values, rest);
};

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

const runCommand = (values: Values, urls: readonly string[]): RunCommand => {
  const [url] = urls;
  if (url === undefined || urls.length > 1) throw new UsageError('run must be followed by one URL');
  const { json, junit, vectors, strict, quiet } = values;
  return {
    name: 'run',
    url: parseUrl(url, values.insecure),
    ...{ json, junit, vectors, strict, quiet },
    requestMs: parseSeconds('timeout', values.timeout),
    runMs: parseSeconds('deadline', values.deadline),
  };
};

const serveCommand = (values: Values, rest: readonly string[]): Command => {
  if (rest.length > 0) throw new UsageError(`serve takes no argument, and not ${rest.join(' ')}`);
  const { host = '127.0.0.1', port = '8090' } = values;
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be 0 to 65535, not ${port}`);
  return { name: 'serve', host, port: Number(port) };
};

const parseUrl = (text: string, allowsHttp: boolean): string => {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text))
    throw new UsageError(`the URL must be absolute, of at most ${MAX_URL_CHARS} characters`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new UsageError('the URL must not carry credentials');
  if (!isProtected(url) && !(allowsHttp && url.protocol === 'http:'))
    throw new UsageError('the URL must be https; http is for this machine, or with --insecure');
  url.hash = '';
  return url.href;
};

const parseSeconds = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,3}(?:\.[0-9]{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  throw new UsageError(`--${option} must be seconds, more than 0 and at most ${MAX_SECONDS}, not ${text}`);
};
