/** The options of `svc-receipt`. Whatever does not fit is a usage error. */
import { parseUtcTime } from '@svc/codec';
import { isDay, type PinnedKey } from '@svc/transparency';
import { assertAllowed, parseOptions, UsageError } from '../options.ts';
import { COMMANDS } from './commands.ts';

const OPTIONS = {
  'did-document': { type: 'string' },
  'service-did': { type: 'string' },
  grant: { type: 'string' },
  proof: { type: 'string' },
  action: { type: 'string' },
  evidence: { type: 'string', multiple: true },
  consumption: { type: 'string', multiple: true },
  'proof-window': { type: 'string' },
  inclusion: { type: 'string' },
  checkpoint: { type: 'string' },
  attestation: { type: 'string' },
  bundle: { type: 'string' },
  fetch: { type: 'boolean', default: false },
  key: { type: 'string', multiple: true },
  'allow-unauthenticated': { type: 'boolean' },
  state: { type: 'string' },
  every: { type: 'string' },
  recheck: { type: 'string' },
  since: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const;

/** What the table of commands says that it takes. */
const optionsOf = (name: string): readonly string[] =>
  COMMANDS.find((command) => command.name === name)?.options ?? [];
/** A bundle holds the others. */
const OF_A_RECEIPT_ALONE = ['inclusion', 'checkpoint', 'attestation'];

interface Common {
  /** A file, or `-` for standard input. */
  readonly receipt: string;
  readonly didDocument: string;
  readonly serviceDid: string | undefined;
  readonly json: boolean;
}

export type Command =
  /** `of`: the command that it is about; undefined: all. */
  | { readonly name: 'help'; readonly of: string | undefined }
  | { readonly name: 'version' }
  | { readonly name: 'completion' }
  | VerifyCommand
  | ({
      readonly name: 'audit';
      /** In place of the Receipt, which is in it. */
      readonly bundle: string | undefined;
      readonly grant: string;
      readonly proof: string;
      readonly action: string;
      readonly evidence: readonly string[];
      readonly consumption: readonly string[];
      readonly proofWindowSeconds: number;
    } & Common)
  | MonitorCommand;

/** A Receipt or a bundle; which of them, its text tells. */
export interface VerifyCommand {
  readonly name: 'verify';
  /** A file, an http(s) address, or `-` for standard input. */
  readonly input: string;
  /** It was said to be one. */
  readonly isBundle: boolean;
  readonly didDocument: string | undefined;
  readonly serviceDid: string | undefined;
  readonly keys: readonly PinnedKey[];
  readonly inclusion: string | undefined;
  readonly checkpoint: string | undefined;
  readonly attestation: string | undefined;
  /** What vouches for its own keys, or for their times, is valid. */
  readonly allowUnauthenticated: boolean;
  /** What is missing is got from the service's own host. */
  readonly fetch: boolean;
  readonly json: boolean;
}

interface MonitorCommand {
  readonly name: 'monitor';
  /** Scheme and host. */
  readonly origin: string;
  /** This or at least one of `keys`. */
  readonly didDocument: string | undefined;
  readonly keys: readonly PinnedKey[];
  readonly serviceDid: string | undefined;
  readonly state: string | undefined;
  /** Null: once. */
  readonly everySeconds: number | null;
  /** Null: all. */
  readonly recheck: number | null;
  readonly since: string | null;
  readonly json: boolean;
}

const NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/** Throws UsageError with what is wrong and what is right. */
export const parseCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [first] = positionals;
  if (values.help) return { name: 'help', of: first };
  if (values.version) return { name: 'version' };
  const isNamed = first !== undefined && NAMES.includes(first);
  if (!isNamed && positionals.length !== 1)
    throw new UsageError(
      `the command must be verify, audit or monitor${first === undefined ? ', or a file' : `, not ${first}`}`,
    );
  const name = isNamed ? first : 'verify';
  const operands = isNamed ? positionals.slice(1) : positionals;
  if (name === 'monitor') return parseMonitor(values, positionals);
  if (name === 'completion') return parseCompletion(operands);
  if (operands.length > 1) throw new UsageError(`there must be one Receipt, not also ${operands[1]}`);
  return name === 'verify' ? parseVerify(values, operands[0]) : parseAudit(values, operands[0]);
};

const parseCompletion = (shells: readonly string[]): Command => {
  if (shells.length !== 1 || shells[0] !== 'bash')
    throw new UsageError('completion is there for bash: svc-receipt completion bash');
  return { name: 'completion' };
};

const parseVerify = (values: Values, operand: string | undefined): VerifyCommand => {
  const allowed = optionsOf('verify');
  if (values.bundle === undefined) assertAllowed(withoutOff(values), allowed, 'verify');
  else {
    const ofBundle = allowed.filter((name) => !OF_A_RECEIPT_ALONE.includes(name));
    assertAllowed(withoutOff(values), ofBundle, 'verify with --bundle');
  }
  const { bundle, inclusion, checkpoint, attestation, fetch, json, key: keys = [] } = values;
  const { 'did-document': didDocument, 'service-did': serviceDid } = values;
  const { 'allow-unauthenticated': allowUnauthenticated = false } = values;
  if (bundle !== undefined && operand !== undefined)
    throw new UsageError(`a bundle holds its Receipt: there must not also be ${operand}`);
  const input = bundle ?? operand ?? '-';
  if (didDocument !== undefined && keys.length > 0)
    throw new UsageError('--did-document and --key say the same: there must be one of them');
  const isPinned = didDocument !== undefined || keys.length > 0 || serviceDid !== undefined;
  if (bundle !== undefined && !isPinned)
    throw new UsageError(
      'a bundle needs --did-document or --key, which you trust, or at least --service-did',
    );
  if (allowUnauthenticated && didDocument !== undefined)
    throw new UsageError('--allow-unauthenticated is not for --did-document, which authenticates');
  if (checkpoint !== undefined && inclusion === undefined)
    throw new UsageError('--checkpoint goes with --inclusion, which names the proof that leads to it');
  if (attestation !== undefined && inclusion === undefined)
    throw new UsageError('--attestation goes with --inclusion: it vouches for a Receipt that is included');
  // Nothing at all was said: not to wait for an input that nobody gives.
  if (bundle === undefined && operand === undefined && !isPinned && !fetch) throw new UsageError(NO_DOCUMENT);
  assertOneStdin([input, didDocument, inclusion, checkpoint, attestation]);
  return {
    ...{ name: 'verify', input, isBundle: bundle !== undefined, didDocument, serviceDid },
    ...{ inclusion, checkpoint, attestation, allowUnauthenticated, fetch, json },
    keys: keys.map(parseKey),
  };
};

export const NO_DOCUMENT =
  '--did-document must name a file with the service DID document that you trust; --fetch gets it from the service that --service-did names';

const parseAudit = (values: Values, receipt: string | undefined): Command => {
  assertAllowed(withoutOff(values), optionsOf('audit'), 'audit');
  if (values.bundle !== undefined && receipt !== undefined)
    throw new UsageError(`a bundle holds its Receipt: there must not also be ${receipt}`);
  return withOneStdin({
    name: 'audit',
    receipt: values.bundle ?? receipt ?? '-',
    bundle: values.bundle,
    didDocument: demand(values, 'did-document', 'the service DID document that you trust'),
    serviceDid: values['service-did'],
    json: values.json,
    grant: demand(values, 'grant', 'the Grant as presented'),
    proof: demand(values, 'proof', 'the Proof as presented'),
    action: demand(values, 'action', 'the Action that was sent, as JSON'),
    evidence: values.evidence ?? [],
    consumption: values.consumption ?? [],
    proofWindowSeconds: parseWindow(values['proof-window']),
  });
};

/** A flag that was not given is no option that a command could lack. */
const withoutOff = (values: Values): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== false));

/** `MULTIKEY` or `MULTIKEY@FROM/UNTIL`, where no bound is an empty one. */
const parseKey = (text: string): PinnedKey => {
  const at = text.indexOf('@');
  if (at < 0) return text;
  const [from = '', until, ...others] = text.slice(at + 1).split('/');
  const isTime = (bound: string) => bound === '' || parseUtcTime(bound) !== null;
  if (until === undefined || others.length > 0 || !isTime(from) || !isTime(until))
    throw new UsageError(
      `--key must be MULTIKEY or MULTIKEY@FROM/UNTIL, times in UTC as 2026-11-20T08:00:00Z, not ${text}`,
    );
  return { multikey: text.slice(0, at), validFrom: from || null, validUntil: until || null };
};

const parseMonitor = (values: Values, [, address, ...rest]: readonly string[]): Command => {
  assertAllowed(values, optionsOf('monitor'), 'monitor');
  if (address === undefined || rest.length > 0)
    throw new UsageError('monitor takes one base URL, as https://svc.example');
  const {
    'did-document': didDocument,
    'service-did': serviceDid,
    key: keys = [],
    state,
    since = null,
  } = values;
  if ((didDocument === undefined) === (keys.length === 0))
    throw new UsageError('monitor needs either --did-document or --key, which you trust');
  if (didDocument === '-') throw new UsageError('monitor reads its DID document from a file');
  if (since !== null && !isDay(since))
    throw new UsageError(`--since must be a day, YYYY-MM-DD, not ${since}`);
  return {
    ...{ name: 'monitor', didDocument, serviceDid, state, since, json: values.json },
    keys: keys.map(parseKey),
    origin: parseOrigin(address),
    everySeconds: parseCount('every', values.every, 1, 86_400),
    recheck: parseCount('recheck', values.recheck, 0, 100_000),
  };
};

/** Checkpoints are signed, so plain http hides nothing from the monitor; what a path would mean is not defined. */
const parseOrigin = (address: string): string => {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isPlain = url !== null && `${url.origin}/` === url.href && /^https?:$/.test(url.protocol);
  if (isPlain) return url.origin;
  throw new UsageError(`the base URL must be http(s)://host, not ${address}`);
};

/** Null where the option is not given. */
const parseCount = (
  option: 'every' | 'recheck',
  text: string | undefined,
  min: number,
  max: number,
): number | null => {
  if (text === undefined) return null;
  const count = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw new UsageError(`--${option} must be a number, ${min} to ${max}, not ${text}`);
};

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

const demand = (
  values: Values,
  option: 'did-document' | 'grant' | 'proof' | 'action',
  what: string,
): string => {
  const value = values[option];
  if (value === undefined) throw new UsageError(`--${option} must name a file with ${what}`);
  return value;
};

const parseWindow = (text: string | undefined): number => {
  const seconds = text !== undefined && /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= 300) return seconds;
  throw new UsageError(
    `--proof-window must be the relying party's proof_window_seconds, 1 to 300${text === undefined ? '' : `, not ${text}`}`,
  );
};

const withOneStdin = <T extends Extract<Command, { name: 'audit' }>>(command: T): T => {
  const { receipt, didDocument, grant, proof, action, evidence, consumption } = command;
  const inputs = [receipt, didDocument, grant, proof, action, ...evidence, ...consumption];
  assertOneStdin(inputs);
  return command;
};

const assertOneStdin = (inputs: readonly (string | undefined)[]): void => {
  if (inputs.filter((path) => path === '-').length > 1)
    throw new UsageError('only one input can be - (standard input)');
};
