/**
 * The endpoint's side of the wire contract, for any engine: takes a text and returns a status and a text, without HTTP.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/protocol';
import { CASE_OPS, type CaseOp, CONTRACT, type WireResult } from './wire.ts';

/** An implementation under test: its name and version, what it supports, and its ops. */
export interface ConformanceEngine {
  readonly implementation: { readonly name: string; readonly version: string };
  readonly profiles: readonly string[];
  /** Whether `evaluate` also returns the signed Receipt. */
  readonly receipts: boolean;
  /** If an op throws, that becomes the error of its case. */
  readonly ops: Readonly<Partial<Record<CaseOp, (input: JsonValue) => JsonValue | Promise<JsonValue>>>>;
}

/** What an endpoint accepts in one request: bytes of the body, and number of cases. Its description states both. */
export interface EndpointLimits {
  readonly maxRequestBytes: number;
  readonly maxCases: number;
}

/** The HTTP status and the JSON text of an answer. 400: the request does not follow the contract. */
export interface EndpointAnswer {
  readonly status: 200 | 400;
  readonly text: string;
}

/** Answers one request. The caller has already limited its size to `maxRequestBytes`. */
export const answerRequest = async (
  requestText: string,
  engine: ConformanceEngine,
  limits: EndpointLimits,
): Promise<EndpointAnswer> => {
  const request = parseJson(requestText);
  if (!isJsonObject(request) || request.contract !== CONTRACT)
    return refuse(`the request must be a JSON object with "contract": "${CONTRACT}"`);
  const { op } = request;
  if (op === 'describe') return answer('describe', describe(engine, limits));
  const known = CASE_OPS.find((name) => name === op);
  const run = known === undefined ? undefined : engine.ops[known];
  if (known === undefined || run === undefined) return refuse('this op is not supported: ask for describe');
  const { cases } = request;
  if (!Array.isArray(cases) || cases.length > limits.maxCases)
    return refuse(`cases must be an array of at most ${limits.maxCases}`);
  const results: WireResult[] = [];
  for (const entry of cases) {
    if (!isJsonObject(entry) || typeof entry.id !== 'string' || entry.input === undefined)
      return refuse('a case must be {id, input}');
    results.push(await resultOf(entry.id, entry.input, run));
  }
  return answer(known, { results: results as unknown as JsonValue });
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const resultOf = async (
  id: string,
  input: JsonValue,
  run: (input: JsonValue) => JsonValue | Promise<JsonValue>,
): Promise<WireResult> => {
  try {
    return { id, result: await run(input) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : 'unknown error' };
  }
};

const describe = (engine: ConformanceEngine, { maxRequestBytes, maxCases }: EndpointLimits): JsonObject => ({
  implementation: engine.implementation,
  ops: ['describe', ...CASE_OPS.filter((op) => engine.ops[op] !== undefined)],
  profiles: engine.profiles,
  receipts: engine.receipts,
  max_request_bytes: maxRequestBytes,
  max_cases: maxCases,
});

const answer = (op: string, members: JsonObject): EndpointAnswer => ({
  status: 200,
  text: JSON.stringify({ contract: CONTRACT, op, ...members }),
});

const refuse = (error: string): EndpointAnswer => ({
  status: 400,
  text: JSON.stringify({ contract: CONTRACT, error }),
});
