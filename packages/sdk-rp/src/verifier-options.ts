/** The verifier's options, checked at run time. */
import type { CryptoPort } from '@svc/codec';
import {
  anInteger,
  anObjectWith,
  connectionRules,
  didWeb,
  isObject,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';

/** How a relying party reaches the service, and whose Receipts it trusts. */
export interface VerifierOptions {
  /** The service's address, https. */
  baseUrl: string;
  /** If absent, read from the environment variable `SVC_RP_KEY` at the first call. */
  apiKey?: string;
  /** DID of the service whose Receipts are trusted. Its document is fetched from `baseUrl` unless pinned. */
  serviceDid?: string;
  /** The service's DID document, pinned. Either this or `serviceDid` is required. */
  didDocument?: unknown;
  /** This relying party's DID. Receipts for another relying party are refused. */
  relyingParty?: string;
  /** The `fetch` of the runtime unless given. */
  fetch?: typeof fetch;
  /** Time for a whole call, retries included, in milliseconds. 5,000 unless given. */
  timeoutMs?: number;
  /** 1 to 100. Unless given, as many as `timeoutMs` allows. */
  maxAttempts?: number;
  /** Permits plain http to a host that is not loopback. */
  allowHttp?: boolean;
  /**
   * SHA-256 and strict Ed25519, with which Receipts are verified. Portable JavaScript unless given; servers may pass
   * `nativeCrypto` of `@svc/protocol/native`.
   */
  crypto?: CryptoPort;
  /** The clock, in milliseconds since the epoch. Answers are compared with it: a wrong clock refuses all of them. */
  now?: () => number;
  /**
   * How far the service's clock may be behind this one, 0 to 300,000 ms; 30,000 unless given. For at most that long, a
   * repeated call may accept an answer that somebody kept from an earlier call.
   */
  serviceClockBehindMs?: number;
  /** How far the service's clock may be ahead of this one, 0 to 300,000 ms; 5,000 unless given. */
  serviceClockAheadMs?: number;
  /** 0 ≤ value < 1, for spreading retries in time. */
  random?: () => number;
}

const MAX_CLOCK_DIFFERENCE_MS = 300_000;
const aClockDifference = anInteger(0, MAX_CLOCK_DIFFERENCE_MS, 'milliseconds');
const aDid = rule(didWeb.what, didWeb.isMet);

const OPTIONS: Rules<VerifierOptions> = {
  ...connectionRules,
  serviceDid: optionally(aDid),
  didDocument: optionally(
    rule("the service's DID document, an object with an id", (value): value is object =>
      Boolean(isObject(value) && isText(value.id)),
    ),
  ),
  relyingParty: optionally(aDid),
  serviceClockBehindMs: optionally(aClockDifference),
  serviceClockAheadMs: optionally(aClockDifference),
  maxAttempts: optionally(anInteger(1, 100, 'attempts')),
  crypto: optionally(anObjectWith('a CryptoPort', [], ['sha256Hex', 'isStrictKey', 'verify'])),
};

/** @throws SvcError `configuration` */
export function readVerifierOptions(options: VerifierOptions): VerifierOptions {
  const read = readArgument('createVerifier', options, OPTIONS, 'configuration');
  if (read.serviceDid === undefined && read.didDocument === undefined) {
    throw new SvcError('configuration', 'pass serviceDid or didDocument: whose Receipts are to be believed?');
  }
  return read;
}
