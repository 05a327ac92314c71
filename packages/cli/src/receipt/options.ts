/** The options of `svc-receipt`. Anything that does not match them is a usage error. */
import { parseUtcTime } from '@svc/codec';
import { PROOF_WINDOW_MAX_SECONDS } from '@svc/protocol';
import { isDay, type KeyPurpose, type PinnedKey } from '@svc/transparency';
import { UsageError, type Values } from '../command-line.ts';
import { isProtected } from '../protected-address.ts';
import { readCommand } from '../read-command.ts';
import { type OPTIONS, PROGRAM } from './commands.ts';

interface Common {
  /** A file, or `-` for standard input. */
  readonly receipt: string;
  readonly didDocument: string;
  readonly serviceDid: string | undefined;
  readonly json: boolean;
}

export type Command =
  /** `text`: what the user asked for, such as help. */
  | { readonly name: 'tell'; readonly text: string }
  | VerifyCommand
  | ({
      readonly name: 'audit';
      /** Replaces the Receipt, which the bundle contains. */
      readonly bundle: string | undefined;
      readonly grant: string;
      readonly proof: string;
      readonly action: string;
      readonly evidence: readonly string[];
      readonly consumption: readonly string[];
      readonly proofWindowSeconds: number;
    } & Common)
  | MonitorCommand;

/** A Receipt or a bundle; the text itself shows which. */
export interface VerifyCommand {
  readonly name: 'verify';
  /** A file, an http(s) address, or `-` for standard input. */
  readonly input: string;
  /** The user said that it is a bundle. */
  readonly isBundle: boolean;
  readonly didDocument: string | undefined;
  readonly serviceDid: string | undefined;
  readonly keys: readonly PinnedKey[];
  readonly inclusion: string | undefined;
  readonly checkpoint: string | undefined;
  readonly attestation: string | undefined;
  /** Accept a bundle that vouches for its own keys, or for their purposes or times, as valid. */
  readonly allowUnauthenticated: boolean;
  /** Fetch what is missing from the service's own host. */
  readonly fetch: boolean;
  /** Decide only with the proof of inclusion, which `fetch` looks for. */
  readonly requireInclusion: boolean;
  readonly json: boolean;
}

interface MonitorCommand {
  readonly name: 'monitor';
  /** Scheme and host of the service. */
  readonly origin: string;
  /** Either this or at least one of `keys` is given. */
  readonly didDocument: string | undefined;
  readonly keys: readonly PinnedKey[];
  readonly serviceDid: string | undefined;
  readonly state: string | undefined;
  /** Null: check once. */
  readonly everySeconds: number | null;
  /** Null: all days. */
  readonly recheck: number | null;
  readonly since: string | null;
  readonly json: boolean;
}

type Given = Values<typeof OPTIONS>;

/** Throws UsageError, which says what is wrong and what is right. */
export const parseCommand = (args: readonly string[]): Command => {
  const line = readCommand(PROGRAM, args);
  if (line.kind === 'tell') return { name: 'tell', text: line.text };
  const { command, operands } = line;
  const values = line.values as Given;
  if (command.name === 'monitor') return parseMonitor(values, operands);
  if (operands.length > 1) throw new UsageError(`there must be one Receipt, not also ${operands[1]}`);
  return command.name === 'verify' ? parseVerify(values, operands[0]) : parseAudit(values, operands[0]);
};

const parseVerify = (values: Given, operand: string | undefined): VerifyCommand => {
  const { bundle, inclusion, checkpoint, attestation, fetch, json, key: keys = [] } = values;
  const { 'did-document': didDocument, 'service-did': serviceDid } = values;
  const { 'allow-unauthenticated': allowUnauthenticated, 'require-inclusion': requireInclusion } = values;
  if (bundle !== undefined && operand !== undefined)
    throw new UsageError(`a bundle holds its Receipt: there must not also be ${operand}`);
  const [beside] = Object.entries({ inclusion, checkpoint, attestation }).filter(
    ([, file]) => file !== undefined,
  );
  if (bundle !== undefined && beside !== undefined)
    throw new UsageError(`a bundle holds what proves it: there must not also be --${beside[0]}`);
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
  if (requireInclusion && !fetch)
    throw new UsageError('--require-inclusion goes with --fetch, which asks the service for the proof');
  if (checkpoint !== undefined && inclusion === undefined)
    throw new UsageError('--checkpoint goes with --inclusion, which names the proof that leads to it');
  if (attestation !== undefined && inclusion === undefined)
    throw new UsageError('--attestation goes with --inclusion: it vouches for a Receipt that is included');
  // Without any input or option the command would wait for standard input, which nobody gives.
  if (bundle === undefined && operand === undefined && !isPinned && !fetch) throw new UsageError(NO_DOCUMENT);
  assertOneStdin([input, didDocument, inclusion, checkpoint, attestation]);
  return {
    ...{ name: 'verify', input, isBundle: bundle !== undefined, didDocument, serviceDid },
    ...{ inclusion, checkpoint, attestation, allowUnauthenticated, fetch, requireInclusion, json },
    keys: keys.map(parseKey),
  };
};

export const NO_DOCUMENT =
  '--did-document must name a file with the service DID document that you trust; --fetch gets it from the service that --service-did names';

const parseAudit = (values: Given, receipt: string | undefined): Command => {
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

/** Purpose, Multikey, and the two bounds of its time; an empty bound is no bound. */
const KEY = /^(?:(receipt|status)=)?([^=@]+)(?:@([^/]*)\/([^/]*))?$/;

/**
 * Parses `MULTIKEY`, with an optional purpose before it, `status=MULTIKEY`, and an optional time after it,
 * `MULTIKEY@FROM/UNTIL`.
 */
const parseKey = (text: string): PinnedKey => {
  const [whole, purpose, multikey = '', from = null, until = null] = KEY.exec(text) ?? [];
  const isTime = (bound: string | null) => !bound || parseUtcTime(bound) !== null;
  if (whole === undefined || !isTime(from) || !isTime(until))
    throw new UsageError(
      `--key must be receipt=MULTIKEY@FROM/UNTIL or status=MULTIKEY@FROM/UNTIL, times in UTC as 2026-11-20T08:00:00Z, not ${text}`,
    );
  const key = purpose === undefined ? { multikey } : { multikey, purpose: purpose as KeyPurpose };
  return from === null ? key : { ...key, validFrom: from || null, validUntil: until || null };
};

const parseMonitor = (values: Given, [address, ...rest]: readonly string[]): Command => {
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
    origin: parseOrigin(address, values.insecure),
    everySeconds: parseCount('every', values.every, 1, 86_400),
    recheck: parseCount('recheck', values.recheck, 0, 100_000),
  };
};

/**
 * Checkpoints are signed, but over an unprotected connection others could hide the new ones. A path has no defined
 * meaning.
 */
const parseOrigin = (address: string, allowsHttp: boolean): string => {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || `${url.origin}/` !== url.href || !/^https?:$/.test(url.protocol))
    throw new UsageError(`the base URL must be https://host, not ${address}`);
  if (!isProtected(url) && !allowsHttp)
    throw new UsageError(`${address} must be https; http is for this machine, or with --insecure`);
  return url.origin;
};

/** Null if the option is not given. */
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

const demand = (
  values: Given,
  option: 'did-document' | 'grant' | 'proof' | 'action',
  what: string,
): string => {
  const value = values[option];
  if (value === undefined) throw new UsageError(`--${option} must name a file with ${what}`);
  return value;
};

const parseWindow = (text: string | undefined): number => {
  const seconds = text !== undefined && /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= PROOF_WINDOW_MAX_SECONDS) return seconds;
  throw new UsageError(
    `--proof-window must be the relying party's proof_window_seconds, 1 to ${PROOF_WINDOW_MAX_SECONDS}${text === undefined ? '' : `, not ${text}`}`,
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
