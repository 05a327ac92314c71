/** Our engine behind the ops of the wire contract. Ops throw Error on invalid input. */
import {
  type CryptoPort,
  evaluateJson,
  isJti,
  JcsError,
  type JsonObject,
  type JsonValue,
  jcs,
  normalizeHtu,
  PROFILES,
  type ReceiptBody,
  sha256Of,
} from '@svc/protocol';
import { signReceipt } from '@svc/receipts';
import type { ConformanceEngine } from './endpoint.ts';

/** Name and version of an implementation, and what it computes and signs with. */
export interface EngineOptions {
  readonly name: string;
  readonly version: string;
  readonly crypto: CryptoPort;
  /** Only for endpoints that sign, and only the published test key `service receipt 1`. */
  readonly receiptSigner: Parameters<typeof signReceipt>[1] | null;
}

/** The engine of `@svc/protocol` and `@svc/receipts`, as an implementation under test. */
export const createEngine = ({ name, version, crypto, receiptSigner }: EngineOptions): ConformanceEngine => ({
  implementation: { name, version },
  profiles: Object.keys(PROFILES),
  receipts: receiptSigner !== null,
  ops: {
    evaluate: async (input) => {
      const body = evaluateJson(input, crypto);
      if (receiptSigner === null) return { body: jsonOf(body) };
      return { body: jsonOf(body), receipt: (await signReceipt(body, receiptSigner)).jws };
    },
    normalizeHtu: (input) => normalizeHtu(textOf(input)),
    canonicalize: (input) => canonicalOf(JSON.parse(textOf(input))),
    sha256: (input) => sha256Of(crypto, textOf(input)),
    isJti: (input) => isJti(textOf(input)),
  },
});

/** The body is JSON, but its type is not assignable to a type with an index signature. */
const jsonOf = (body: ReceiptBody): JsonObject => body as unknown as JsonObject;

const textOf = (input: JsonValue): string => {
  if (typeof input === 'string') return input;
  throw new TypeError('the input must be a string');
};

const canonicalOf = (value: JsonValue): string | null => {
  try {
    return jcs(value);
  } catch (error) {
    if (error instanceof JcsError) return null;
    throw error;
  }
};
