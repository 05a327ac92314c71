/**
 * An endpoint that answers every case as the vectors expect, except what a test changes. In memory, without an engine.
 */

import type { Transport, VectorSet } from '@svc/conformance';
import { CONTRACT, expectedResult, type WireCase } from '@svc/conformance';
import { type JsonValue, PROFILE_IDS } from '@svc/protocol';

export const DESCRIPTION = {
  implementation: { name: 'perfect', version: '1' },
  ops: ['describe', 'evaluate', 'normalizeHtu', 'canonicalize', 'sha256', 'isJti'],
  profiles: PROFILE_IDS,
  receipts: true,
  max_request_bytes: 1_048_576,
  max_cases: 1000,
};

/** Changes a right result; called for every case. */
export type Change = (op: string, id: string, right: JsonValue) => JsonValue;

/** The text of the answer to a request. */
export const perfectAnswer = (
  { cases: known }: VectorSet,
  requestText: string,
  change: Change = (_op, _id, right) => right,
  description: object = DESCRIPTION,
): string => {
  const { op, cases = [] }: { op: string; cases?: readonly WireCase[] } = JSON.parse(requestText);
  if (op === 'describe') return JSON.stringify({ contract: CONTRACT, op, ...description });
  const byId = new Map(known.filter((one) => one.op === op).map((one) => [one.id, one]));
  const results = cases.map(({ id }) => {
    const asked = byId.get(id);
    if (asked === undefined) throw new Error(`${id} is no case of ${op}`);
    return { id, result: change(op, id, expectedResult(asked, true)) };
  });
  return JSON.stringify({ contract: CONTRACT, op, results });
};

/** A transport that passes each request to `answer`, and records the requests. */
export const inMemory = (
  answer: (requestText: string) => string,
): Transport & { readonly requests: string[] } => {
  const requests: string[] = [];
  return {
    requests,
    post: async (_url, jsonText) => {
      requests.push(jsonText);
      return { kind: 'answered', status: 200, body: new TextEncoder().encode(answer(jsonText)) };
    },
  };
};
