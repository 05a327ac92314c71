/**
 * A key of AWS KMS: `Sign` with `ED25519_SHA_512` over the message itself, which is Ed25519 by RFC 8032. The other
 * algorithm of such keys, Ed25519ph over a digest, would accept longer messages, but no verifier of the service's
 * records accepts its signatures. The SDK finds the credentials: environment, web identity, container, instance.
 */
import { createPublicKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KMSClient } from '@aws-sdk/client-kms';
import { decodeBase64url } from '@svc/protocol';
import { KeySetError, Semaphore } from '@svc/service';
import { BusyError, type Driver } from './driver.ts';
import type { KmsUri } from './key-uri.ts';
import type { MadeKey } from './sources.ts';

/** Maximum size of a `Message` with `MessageType` `RAW`. */
export const KMS_MAX_BYTES = 4_096;
const DEADLINE_MS = 1_000;
/** Milliseconds of a request: a request that hangs leaves time for another. */
const REQUEST_MS = 400;
const FIRST_WAIT_MS = 50;
const ATTEMPTS = 3;
const AT_ONCE = 64;
const MAX_WAITING = 1_000;
/** Milliseconds for commands that make keys. */
const COMMAND_MS = 10_000;

const BUSY = new Set(['ThrottlingException', 'LimitExceededException', 'TooManyRequestsException']);

export const openKms = async (uri: KmsUri): Promise<Driver> => {
  if (uri.arn === null) throw new KeySetError('private_key must be aws-kms:<ARN of a key>');
  const { KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({
    region: uri.region,
    // Repeated here, where the remaining time is known.
    maxAttempts: 1,
    requestHandler: {
      requestTimeout: REQUEST_MS,
      connectionTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
  });
  const full = () => new BusyError(`${MAX_WAITING} signatures are waited for already`);
  const turns = new Semaphore({ atOnce: AT_ONCE, maxWaiting: MAX_WAITING, full });
  const KeyId = uri.arn;
  const signOnce = async (Message: Uint8Array, abortSignal: AbortSignal): Promise<Uint8Array> => {
    const command = new SignCommand({
      KeyId,
      Message,
      MessageType: 'RAW',
      SigningAlgorithm: 'ED25519_SHA_512',
    });
    const { Signature } = await client.send(command, { abortSignal });
    if (Signature === undefined) throw new Error('AWS KMS answered without a signature');
    return Signature;
  };
  return {
    name: `AWS KMS ${uri.arn}`,
    maxBytes: KMS_MAX_BYTES,
    deadlineMs: DEADLINE_MS,
    sign: (bytes, signal) => turns.run(() => signAgain(() => signOnce(bytes, signal), signal), signal),
    close: async () => client.destroy(),
  };
};

/** The key that the URI names, or a new one in the region that it names. */
export const makeKmsKey = async (uri: KmsUri, name: string): Promise<MadeKey> => {
  const { CreateKeyCommand, GetPublicKeyCommand, KMSClient } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({ region: uri.region, requestHandler: { requestTimeout: COMMAND_MS } });
  const create = async (): Promise<string> => {
    const spec = { KeySpec: 'ECC_NIST_EDWARDS25519', KeyUsage: 'SIGN_VERIFY' } as const;
    const made = await client
      .send(new CreateKeyCommand({ ...spec, Description: `svc ${name}` }))
      .catch(explain);
    return made.KeyMetadata?.Arn ?? '';
  };
  try {
    const KeyId = uri.arn ?? (await create());
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId })).catch(explain);
    return { uri: `aws-kms:${KeyId}`, publicKey: rawKeyOf(PublicKey ?? new Uint8Array()) };
  } finally {
    destroy(client);
  }
};

/** Repeats calls that failed temporarily, while there is time for another request. */
const signAgain = async (sign: () => Promise<Uint8Array>, signal: AbortSignal): Promise<Uint8Array> => {
  const untilMs = performance.now() + DEADLINE_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await sign();
    } catch (error) {
      const waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
      const isLast = attempt === ATTEMPTS || performance.now() + waitMs + REQUEST_MS > untilMs;
      if (isLast || signal.aborted || !isTransient(error)) return explain(error);
      await sleep(waitMs);
    }
  }
};

/** Throttled, failed inside the service, or not answered at all. */
const isTransient = (error: unknown): boolean => {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return BUSY.has(name ?? '') || ($metadata?.httpStatusCode ?? 500) >= 500;
};

const destroy = (client: KMSClient): void => client.destroy();

const explain = (error: unknown): never => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (BUSY.has(name)) throw new BusyError(`${name}: ${message}`);
  throw new Error(`${name}: ${message}`, { cause: error });
};

const rawKeyOf = (spki: Uint8Array): Uint8Array => {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const { crv, x = '' } = key.export({ format: 'jwk' });
  const raw = crv === 'Ed25519' ? decodeBase64url(x) : null;
  if (raw === null) throw new KeySetError('the key in AWS KMS must be of the kind ECC_NIST_EDWARDS25519');
  return raw;
};
