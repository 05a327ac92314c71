/** The options of `svc-receipt`. Whatever does not fit is a usage error. */
import { parseUtcTime } from '@svc/codec';
import { isDay, type PinnedKey } from '@svc/transparency';
import { assertAllowed, parseOptions, UsageError } from '../options.ts';

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

const COMMON_OPTIONS = ['did-document', 'service-did', 'json'];
const VERIFY_OPTIONS = [...COMMON_OPTIONS, 'inclusion', 'checkpoint', 'attestation'];
const BUNDLE_OPTIONS = [...COMMON_OPTIONS, 'bundle', 'key', 'allow-unauthenticated'];
const AUDIT_OPTIONS = [
  ...COMMON_OPTIONS,
  'grant',
  'proof',
  'action',
  'evidence',
  'consumption',
  'proof-window',
];
const MONITOR_OPTIONS = [...COMMON_OPTIONS, 'key', 'state', 'every', 'recheck', 'since'];

interface Common {
  /** A file, or `-` for standard input. */
  readonly receipt: string;
  readonly didDocument: string;
  readonly serviceDid: string | undefined;
  readonly json: boolean;
}

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | ({
      readonly name: 'verify';
      readonly inclusion: string | undefined;
      readonly checkpoint: string | undefined;
      readonly attestation: string | undefined;
    } & Common)
  | {
      readonly name: 'bundle';
      readonly bundle: string;
      readonly didDocument: string | undefined;
      readonly serviceDid: string | undefined;
      readonly keys: readonly PinnedKey[];
      /** A bundle that vouches for its own keys, or for their times, is valid. */
      readonly allowUnauthenticated: boolean;
      readonly json: boolean;
    }
  | ({
      readonly name: 'audit';
      readonly grant: string;
      readonly proof: string;
      readonly action: string;
      readonly evidence: readonly string[];
      readonly consumption: readonly string[];
      readonly proofWindowSeconds: number;
    } & Common)
  | MonitorCommand;

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

/** Throws UsageError with what is wrong and what is right. */
export const parseCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseOptions(args, OPTIONS);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [name, receipt = '-', ...rest] = positionals;
  if (name === 'monitor') return parseMonitor(values, positionals);
  if (name !== 'verify' && name !== 'audit')
    throw new UsageError(
      `the command must be verify, audit or monitor${name === undefined ? '' : `, not ${name}`}`,
    );
  if (rest.length > 0) throw new UsageError(`there must be one Receipt, not also ${rest.join(' ')}`);
  if (name === 'verify' && values.bundle !== undefined)
    return parseBundle(values.bundle, values, positionals);
  assertAllowed(values, name === 'verify' ? VERIFY_OPTIONS : AUDIT_OPTIONS, name);
  const common = {
    receipt,
    didDocument: demand(values, 'did-document', 'the service DID document that you trust'),
    serviceDid: values['service-did'],
    json: values.json,
  };
  if (name === 'verify') return parseVerify(common, values);
  return withOneStdin({
    name,
    ...common,
    grant: demand(values, 'grant', 'the Grant as presented'),
    proof: demand(values, 'proof', 'the Proof as presented'),
    action: demand(values, 'action', 'the Action that was sent, as JSON'),
    evidence: values.evidence ?? [],
    consumption: values.consumption ?? [],
    proofWindowSeconds: parseWindow(values['proof-window']),
  });
};

const parseVerify = (common: Common, { inclusion, checkpoint, attestation }: Values): Command => {
  if (checkpoint !== undefined && inclusion === undefined)
    throw new UsageError('--checkpoint goes with --inclusion, which names the proof that leads to it');
  if (attestation !== undefined && inclusion === undefined)
    throw new UsageError('--attestation goes with --inclusion: it vouches for a Receipt that is included');
  assertOneStdin([common.receipt, common.didDocument, inclusion, checkpoint, attestation]);
  return { name: 'verify', ...common, inclusion, checkpoint, attestation };
};

const parseBundle = (bundle: string, values: Values, [, receipt]: readonly string[]): Command => {
  if (receipt !== undefined)
    throw new UsageError(`a bundle holds its Receipt: there must not also be ${receipt}`);
  assertAllowed(values, BUNDLE_OPTIONS, 'verify with --bundle');
  const { 'did-document': didDocument, 'service-did': serviceDid, key: keys = [] } = values;
  if (didDocument !== undefined && keys.length > 0)
    throw new UsageError('--did-document and --key say the same: there must be one of them');
  if (didDocument === undefined && keys.length === 0 && serviceDid === undefined)
    throw new UsageError(
      'a bundle needs --did-document or --key, which you trust, or at least --service-did',
    );
  assertOneStdin([bundle, didDocument]);
  const { 'allow-unauthenticated': allowUnauthenticated = false, json } = values;
  if (allowUnauthenticated && didDocument !== undefined)
    throw new UsageError('--allow-unauthenticated is not for --did-document, which authenticates');
  return {
    ...{ name: 'bundle', bundle, didDocument, serviceDid, allowUnauthenticated, json },
    keys: keys.map(parseKey),
  };
};

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
  assertAllowed(values, MONITOR_OPTIONS, 'monitor');
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
