/**
 * The wire contract `svc-conformance-http v1` (docs/conformance.md): one JSON POST per call. Answers are untrusted:
 * they must be strict JSON of a closed shape.
 */
import { decodeUtf8, isJsonObject, type JsonObject, type JsonValue, parseStrictJson } from '@svc/protocol';
import { ownText } from './own-text.ts';

/** The contract's name and version, contained in every description and report. */
export const CONTRACT = 'svc-conformance-http v1';

/** Ops that take cases. `describe` takes none. */
export const CASE_OPS = ['evaluate', 'normalizeHtu', 'canonicalize', 'sha256', 'isJti'] as const;
/** An op that takes cases. */
export type CaseOp = (typeof CASE_OPS)[number];
/** The op of a request: `describe`, or one that takes cases. */
export type Op = CaseOp | 'describe';

/** Required of every endpoint except libraries; all other ops and profiles are optional. */
const REQUIRED_OP: CaseOp = 'evaluate';
const REQUIRED_PROFILE = 'svc-base-v1';

/** The maximum size of a request and of a batch, whatever the endpoint accepts. */
export const MAX_REQUEST_BYTES = 1_048_576;
/** The maximum number of cases in one request, whatever the endpoint accepts. */
export const MAX_CASES = 1000;
/** The request size that every endpoint must accept at least. */
export const MIN_REQUEST_BYTES = 131_072;
export const MIN_CASES = 100;
/** The maximum size of an answer that is read. */
export const MAX_ANSWER_BYTES = 4_194_304;
const MAX_NAME_CHARS = 200;
const MAX_NAMES = 100;

/** An endpoint's description of itself. */
export interface Description {
  readonly implementation: { readonly name: string; readonly version: string };
  readonly ops: readonly Op[];
  readonly profiles: readonly string[];
  /** Whether results of `evaluate` contain the Receipt, signed with the published test key. */
  readonly receipts: boolean;
  readonly maxRequestBytes: number;
  readonly maxCases: number;
}

/** A case on the wire: its id and its input, without the expected result. */
export interface WireCase {
  /** Unique within the request. */
  readonly id: string;
  readonly input: JsonValue;
}

export type WireResult =
  | { readonly id: string; readonly result: JsonValue }
  | { readonly id: string; readonly error: string };

/** The parsed answer, or how it violates the contract; a problem quotes at most a few characters of the answer. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

const broken = (problem: string) => ({ ok: false, problem }) as const;

export const describeRequest = (): string => JSON.stringify({ contract: CONTRACT, op: 'describe' });

export const casesRequest = (op: CaseOp, cases: readonly WireCase[]): string =>
  JSON.stringify({ contract: CONTRACT, op, cases });

/** Parses the answer to `describe`. A library has no engine, so it may leave out `evaluate` and its profiles. */
export const parseDescription = (body: Uint8Array, isLibrary = false): Read<Description> => {
  const answer = parseEnvelope(body, 'describe', [
    'implementation',
    'ops',
    'profiles',
    'receipts',
    'max_request_bytes',
    'max_cases',
  ]);
  if (!answer.ok) return answer;
  const {
    implementation,
    ops,
    profiles,
    receipts,
    max_request_bytes: bytes,
    max_cases: cases,
  } = answer.value;
  if (!hasExactly(implementation, ['name', 'version']))
    return broken('implementation must be {name, version}');
  const { name, version } = implementation;
  if (!isName(name) || !isName(version))
    return broken(`name and version must have 1 to ${MAX_NAME_CHARS} characters`);
  if (!isNames(ops)) return broken('ops must be names');
  const hasEngine = ops.includes(REQUIRED_OP);
  if (!hasEngine && !isLibrary) return broken(`ops must be names, among them ${REQUIRED_OP}`);
  if (!isNames(profiles) || (hasEngine && !profiles.includes(REQUIRED_PROFILE)))
    return broken(`profiles must be names, among them ${REQUIRED_PROFILE}`);
  if (typeof receipts !== 'boolean') return broken('receipts must be true or false');
  if (!isInteger(bytes) || bytes < MIN_REQUEST_BYTES)
    return broken(`max_request_bytes must be an integer of at least ${MIN_REQUEST_BYTES}`);
  if (!isInteger(cases) || cases < MIN_CASES)
    return broken(`max_cases must be an integer of at least ${MIN_CASES}`);
  return {
    ok: true,
    value: {
      implementation: { name: ownName(name), version: ownName(version) },
      ops: ops.filter((op): op is Op => op === 'describe' || CASE_OPS.some((known) => known === op)),
      profiles: profiles.map(ownName),
      receipts,
      maxRequestBytes: bytes,
      maxCases: cases,
    },
  };
};

/** Parses the answer to a batch: results by case id. A result may be missing; results of unknown cases are refused. */
export const parseResults = (
  body: Uint8Array,
  op: CaseOp,
  asked: ReadonlySet<string>,
): Read<ReadonlyMap<string, WireResult>> => {
  const answer = parseEnvelope(body, op, ['results']);
  if (!answer.ok) return answer;
  const { results } = answer.value;
  if (!Array.isArray(results)) return broken('results must be an array');
  const byId = new Map<string, WireResult>();
  for (const [i, entry] of results.entries()) {
    const result = parseResult(entry);
    if (result === null) return broken(`/results/${i} must be {id, result} or {id, error}`);
    if (!asked.has(result.id)) return broken(`/results/${i}/id is no case of the request`);
    if (byId.has(result.id)) return broken(`/results/${i}/id has a result already`);
    byId.set(result.id, result);
  }
  return { ok: true, value: byId };
};

const parseResult = (entry: JsonValue): WireResult | null => {
  if (hasExactly(entry, ['id', 'result'])) {
    const { id, result } = entry;
    return typeof id === 'string' && result !== undefined ? { id, result } : null;
  }
  if (!hasExactly(entry, ['id', 'error'])) return null;
  const { id, error } = entry;
  return typeof id === 'string' && typeof error === 'string' ? { id, error } : null;
};

const parseEnvelope = (body: Uint8Array, op: Op, members: readonly string[]): Read<JsonObject> => {
  const text = decodeUtf8(body);
  if (text === null) return broken('not UTF-8');
  const json = parseStrictJson(text);
  if (!json.ok) return broken(`not strict JSON: ${json.problem} at ${json.offset}`);
  if (!hasExactly(json.value, ['contract', 'op', ...members]))
    return broken(`the answer must have exactly the members contract, op, ${members.join(', ')}`);
  if (json.value.contract !== CONTRACT) return broken(`contract must be "${CONTRACT}"`);
  return json.value.op === op ? { ok: true, value: json.value } : broken(`op must be "${op}"`);
};

const hasExactly = (value: JsonValue | undefined, names: readonly string[]): value is JsonObject =>
  isJsonObject(value) &&
  Object.keys(value).length === names.length &&
  names.every((name) => Object.hasOwn(value, name));

const isInteger = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value);

const isName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.length >= 1 && value.length <= MAX_NAME_CHARS;

const ownName = (name: string): string => ownText(name, MAX_NAME_CHARS);

const isNames = (value: JsonValue | undefined): value is readonly string[] =>
  Array.isArray(value) && value.length <= MAX_NAMES && value.every(isName);
