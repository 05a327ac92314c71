/** The command line as typed options. Whatever does not fit is a usage error. */
import { parseArgs } from 'node:util';

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

/** Something that the person at the command line has to put right. The answer is "could not decide". */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

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
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [name, ...rest] = positionals;
  if (name !== 'run' && name !== 'serve')
    throw new UsageError(`the command must be run or serve${name === undefined ? '' : `, not ${name}`}`);
  const allowed = name === 'run' ? RUN_OPTIONS : SERVE_OPTIONS;
  for (const [option, value] of Object.entries(values))
    if (!allowed.includes(option) && value !== false)
      throw new UsageError(`${name} has no option --${option}`);
  return name === 'run' ? runCommand(values, rest) : serveCommand(values, rest);
};

type Values = ReturnType<typeof parse>['values'];

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

/** Hosts whose traffic stays on this machine. */
const LOOPBACK = /^(?:localhost|(?:[^.]+\.)*localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

const parseUrl = (text: string, allowsHttp: boolean): string => {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text))
    throw new UsageError(`the URL must be absolute, of at most ${MAX_URL_CHARS} characters`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new UsageError('the URL must not carry credentials');
  const isAllowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && (allowsHttp || LOOPBACK.test(url.hostname)));
  if (!isAllowed) throw new UsageError('the URL must be https; http is for this machine, or with --insecure');
  url.hash = '';
  return url.href;
};

const parseSeconds = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,3}(?:\.[0-9]{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  throw new UsageError(`--${option} must be seconds, more than 0 and at most ${MAX_SECONDS}, not ${text}`);
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch {
    throw new UsageError(findUsageProblem(args) ?? 'the command line cannot be read');
  }
};

/** In our own words what the strict parser refuses. */
const findUsageProblem = (args: readonly string[]): string | null => {
  const { tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (!isOption(name)) return `there is no option ${rawName}`;
    const takesValue = OPTIONS[name].type === 'string';
    if (!takesValue && value !== undefined) return `${rawName} takes no value`;
    if (takesValue && (value === undefined || value.startsWith('-')))
      return `${rawName} must be followed by a value${value === undefined ? '' : `, not ${value}`}`;
  }
  return null;
};

const isOption = (name: string): name is keyof typeof OPTIONS => Object.hasOwn(OPTIONS, name);
