/** The commands and options of `svc-conformance`. Anything that does not match them is a usage error. */
import {
  type CommandText,
  type Options,
  type Program,
  pick,
  UsageError,
  type Values,
} from '../command-line.ts';
import { completionCommand } from '../completion.ts';
import { isProtected } from '../protected-address.ts';
import { readCommand } from '../read-command.ts';

const OPTIONS = {
  json: { text: 'print the report as one JSON object' },
  junit: { value: 'FILE', text: 'also write the report as JUnit XML' },
  strict: { text: 'count everything that the endpoint does not support as failed' },
  library: { text: 'allow an endpoint without evaluate, such as a library without an engine' },
  timeout: { value: 'SECONDS', text: 'time limit of one request; default: 15' },
  deadline: { value: 'SECONDS', text: 'time limit of the run; default: 120' },
  vectors: { value: 'FOLDER', text: 'vector set to use instead of the one of this version' },
  insecure: { text: 'allow plain http to other machines' },
  quiet: { text: 'no progress on standard error', short: 'q' },
  host: { value: 'HOST', text: 'address that serve listens on; default: 127.0.0.1' },
  port: { value: 'PORT', text: 'port that serve listens on; default: 8090' },
} as const satisfies Options;

const RUN: CommandText = {
  name: 'run',
  operand: 'URL',
  gist: 'Runs the published vectors against an implementation that speaks svc-conformance-http v1',
  options: pick(OPTIONS, [
    'json',
    'junit',
    'strict',
    'library',
    'timeout',
    'deadline',
    'vectors',
    'insecure',
    'quiet',
  ]),
};

const SERVE: CommandText = {
  name: 'serve',
  gist: 'Serves the engine of svc behind the same contract, for comparison',
  options: pick(OPTIONS, ['host', 'port']),
};

export const PROGRAM: Program<CommandText> = {
  name: 'svc-conformance',
  gist: 'Runs the published vectors against an implementation of the check engine',
  commands: [RUN, SERVE, completionCommand('svc-conformance')],
  foot: 'Exit code: 0 passed, 1 failed, 2 could not decide.',
};

const MAX_URL_CHARS = 2048;
const MAX_SECONDS = 600;

export interface RunCommand {
  readonly name: 'run';
  readonly url: string;
  readonly json: boolean;
  /** File for the JUnit report; undefined if none is written. */
  readonly junit: string | undefined;
  /** Folder of the vectors; undefined for the published set. */
  readonly vectors: string | undefined;
  readonly requestMs: number | undefined;
  readonly runMs: number | undefined;
  /** Vectors that the endpoint does not support count as failed. */
  readonly strict: boolean;
  /** The endpoint may leave out `evaluate`. */
  readonly library: boolean;
  readonly quiet: boolean;
}

export type Command =
  /** `text`: what the user asked for, such as help. */
  | { readonly name: 'tell'; readonly text: string }
  | { readonly name: 'serve'; readonly host: string; readonly port: number }
  | RunCommand;

/** Throws UsageError, which says what is wrong and what is right. */
export const parseCommand = (args: readonly string[]): Command => {
  const line = readCommand(PROGRAM, args);
  if (line.kind === 'tell') return { name: 'tell', text: line.text };
  const { command, operands } = line;
  const values = line.values as Given;
  return command === RUN ? runCommand(values, operands) : serveCommand(values, operands);
};

type Given = Values<typeof OPTIONS>;

const runCommand = (values: Given, urls: readonly string[]): RunCommand => {
  const [url] = urls;
  if (url === undefined || urls.length > 1) throw new UsageError('run must be followed by one URL');
  const { json, junit, vectors, strict, library, quiet } = values;
  return {
    name: 'run',
    url: parseUrl(url, values.insecure),
    ...{ json, junit, vectors, strict, library, quiet },
    requestMs: parseSeconds('timeout', values.timeout),
    runMs: parseSeconds('deadline', values.deadline),
  };
};

const serveCommand = (values: Given, rest: readonly string[]): Command => {
  if (rest.length > 0) throw new UsageError(`serve takes no argument, but got ${rest.join(' ')}`);
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
