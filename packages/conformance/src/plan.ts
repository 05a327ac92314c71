/**
 * Distributes cases over requests. The number of requests is limited, so batches are planned by bytes and cases. They
 * are as small as that limit allows, since a failed request leaves all its cases undecided.
 */
import { encodeUtf8, type JsonObject, type JsonValue } from '@svc/protocol';
import type { ConformanceCase, VectorSet } from './vector-set.ts';
import {
  CASE_OPS,
  type CaseOp,
  casesRequest,
  type Description,
  MAX_ANSWER_BYTES,
  MAX_CASES,
  MAX_REQUEST_BYTES,
  MIN_REQUEST_BYTES,
} from './wire.ts';

/** The cases of one request, all of one op. */
export interface Batch {
  readonly op: CaseOp;
  readonly cases: readonly ConformanceCase[];
}

/** The requests of a run, in order, and the cases that are not sent. */
export interface Plan {
  readonly batches: readonly Batch[];
  /** Cases whose op or profile the endpoint does not support. */
  readonly unsupported: readonly ConformanceCase[];
}

const SMALLEST_BATCH_BYTES = MIN_REQUEST_BYTES;
/**
 * The part of an answer that is planned for expected results; the rest allows for white space and other serialisations.
 */
const PLANNED_ANSWER_BYTES = MAX_ANSWER_BYTES / 2;

/** A plan with at most `maxBatches` requests; null if the endpoint's limits make that impossible. */
export const planBatches = (
  { cases }: VectorSet,
  description: Description,
  maxBatches: number,
): Plan | null => {
  const isSupported = ({ op, profile }: ConformanceCase): boolean =>
    description.ops.includes(op) && (profile === null || description.profiles.includes(profile));
  const supported = cases.filter(isSupported).map(weigh);
  const unsupported = cases.filter((one) => !isSupported(one));
  const maxBytes = Math.min(description.maxRequestBytes, MAX_REQUEST_BYTES);
  const maxCases = Math.min(description.maxCases, MAX_CASES);
  for (let bytes = SMALLEST_BATCH_BYTES; ; bytes = Math.min(bytes * 2, maxBytes)) {
    const batches = CASE_OPS.flatMap((op) =>
      fill(
        op,
        supported.filter((one) => one.of.op === op),
        { requestBytes: Math.min(bytes, maxBytes), cases: maxCases },
      ),
    );
    if (batches.length <= maxBatches && batches.every((batch) => fits(batch, maxBytes)))
      return { batches, unsupported };
    if (bytes >= maxBytes) return null;
  }
};

interface Weighed {
  readonly of: ConformanceCase;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

const weigh = (of: ConformanceCase): Weighed => ({
  of,
  requestBytes: jsonBytes({ id: of.id, input: of.input }) + 1,
  answerBytes: jsonBytes({ id: of.id, result: expectedResult(of, true) }) + 1,
});

const jsonBytes = (value: JsonObject): number => encodeUtf8(JSON.stringify(value)).length;

/** The expected result, including the Receipt if the endpoint signs. */
export const expectedResult = ({ expected, receipt }: ConformanceCase, signs: boolean): JsonValue =>
  receipt === null || !signs ? expected : { ...(expected as JsonObject), receipt };

/** Fills batches in order; a case larger than a batch is sent alone. */
const fill = (
  op: CaseOp,
  cases: readonly Weighed[],
  most: { readonly requestBytes: number; readonly cases: number },
): Batch[] => {
  const batches: ConformanceCase[][] = [];
  const envelopeBytes = casesRequest(op, []).length;
  let room = { requestBytes: 0, answerBytes: 0, cases: 0 };
  for (const { of, requestBytes, answerBytes } of cases) {
    if (requestBytes > room.requestBytes || answerBytes > room.answerBytes || room.cases === 0) {
      batches.push([]);
      room = {
        requestBytes: most.requestBytes - envelopeBytes,
        answerBytes: PLANNED_ANSWER_BYTES,
        cases: most.cases,
      };
    }
    batches.at(-1)?.push(of);
    room.requestBytes -= requestBytes;
    room.answerBytes -= answerBytes;
    room.cases--;
  }
  return batches.map((batch) => ({ op, cases: batch }));
};

const fits = ({ op, cases }: Batch, maxBytes: number): boolean =>
  cases.length > 1 || encodeUtf8(casesRequest(op, cases)).length <= maxBytes;
