/** vectors/evaluate: evaluates every case, compares the result with what its author states, and signs its Receipt. */
import { readdirSync } from 'node:fs';
import {
  type CheckId,
  type CryptoPort,
  type EvaluateInput,
  evaluateJson,
  type JsonObject,
  jcs,
  type ReceiptBody,
  signCompactJws,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { honestScene, inputOf } from './scene.ts';
import { receiptSigner } from './test-keys.ts';
import type { VectorCase } from './vector-case.ts';

export interface EvaluateVector {
  readonly id: string;
  readonly description: string;
  readonly covers: VectorCase['covers'];
  readonly input: EvaluateInput;
  readonly expected: {
    readonly decision: 'ALLOW' | 'DENY';
    readonly reason: string | null;
    readonly body: ReceiptBody;
    readonly receipt: string;
  };
}

const CASES_FOLDER = new URL('cases/', import.meta.url);

/** The cases of every file under cases/, whose folder names the check that they are about. */
const loadCases = async (): Promise<readonly VectorCase[]> => {
  const files = readdirSync(CASES_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort();
  const modules: readonly { readonly cases: readonly VectorCase[] }[] = await Promise.all(
    files.map((name) => import(new URL(name.replaceAll('\\', '/'), CASES_FOLDER).href)),
  );
  return modules.flatMap(({ cases }) => cases);
};

export const CASES = await loadCases();

export const RECEIPT_TYP = 'svc-receipt+jwt';

/** The compact JWS over the JCS form of the body, by the published test receipt key. */
export const signReceipt = (body: ReceiptBody): Promise<string> =>
  signCompactJws(receiptSigner, { typ: RECEIPT_TYP }, jcs(body as unknown as JsonObject));

export const buildEvaluateVectors = async (): Promise<readonly EvaluateVector[]> => {
  const ids = new Set(CASES.map(({ id }) => id));
  if (ids.size !== CASES.length) throw new Error('two vectors have one id');
  return Promise.all(CASES.map((vectorCase) => buildVector(vectorCase, nativeCrypto)));
};

const buildVector = async (vectorCase: VectorCase, crypto: CryptoPort): Promise<EvaluateVector> => {
  const { id, description, covers, edit } = vectorCase;
  const scene = honestScene();
  edit(scene);
  const input = inputOf(id, scene);
  const body = evaluateJson(input, crypto);
  assertAsStated(vectorCase, body);
  const { decision, reason } = body;
  return {
    id,
    description,
    covers,
    input,
    expected: { decision, reason, body, receipt: await signReceipt(body) },
  };
};

/**
 * The author states the expectation by hand, and the engine gives the bytes. A vector in which the two differ is never
 * written.
 */
const assertAsStated = ({ id, reason, covers }: VectorCase, body: ReceiptBody): void => {
  if (body.reason !== reason) throw new Error(`${id}: reason ${body.reason}, stated ${reason}`);
  for (const [check, stated] of Object.entries(covers)) {
    const outcome = outcomeOf(body, check as CheckId);
    if (outcome !== stated) throw new Error(`${id}: ${check} is ${outcome}, stated ${stated}`);
  }
};

export const outcomeOf = ({ protocol, trust }: ReceiptBody, id: CheckId) =>
  protocol.checks[id] ?? trust.checks[id];
