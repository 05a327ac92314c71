/**
 * A key management service with the part of AWS KMS that a signer uses, as the API reference describes it: JSON
 * 1.1, verified Signature Version 4, `Sign`, `GetPublicKey` and `CreateKey` of Ed25519 keys, their limits and errors.
 * Tests can make it throttle, hang, fail, and be slow.
 */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const ACCESS_KEY = 'AKIDEXAMPLE';
const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
/** Region of keys that tests create without a request. */
const REGION = 'eu-central-1';
const MAX_MESSAGE_BYTES = 4_096;
const MAX_SKEW_MS = 5 * 60_000;

interface Key {
  readonly arn: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  state: 'Enabled' | 'Disabled' | 'PendingDeletion';
}

type Behaviour = 'well' | 'throttle' | 'hang' | 'fail';

export interface KmsServer {
  /** Environment for processes that use the service. */
  readonly env: Readonly<Record<string, string>>;
  /** `aws-kms:<ARN>` of a new key. */
  createKey(): string;
  setState(uri: string, state: Key['state']): void;
  /** Behaviour for the next `count` requests; without a count, for all. */
  behave(how: Behaviour, count?: number): void;
  /** Delays each answer by `ms`. */
  delayBy(ms: number): void;
  /** The result of each request to sign, an error or `ok`, and the number of bytes to sign. */
  readonly signed: readonly { readonly answer: string; readonly bytes: number }[];
  stop(): Promise<void>;
}

class KmsError extends Error {
  constructor(
    readonly type: string,
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

export const startKmsServer = async (): Promise<KmsServer> => {
  const keys = new Map<string, Key>();
  const signed: { answer: string; bytes: number }[] = [];
  let behaviour: Behaviour = 'well';
  let left = 0;
  let delayMs = 0;
  const createKey = (region = REGION): Key => {
    const arn = `arn:aws:kms:${region}:123456789012:key/${randomUUID()}`;
    const key: Key = { arn, ...generateKeyPairSync('ed25519'), state: 'Enabled' };
    keys.set(arn, key);
    return key;
  };
  const howNow = (): Behaviour => {
    const how = behaviour;
    if (left > 0 && --left === 0) behaviour = 'well';
    return how;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const how = howNow();
    if (how === 'hang') return;
    if (delayMs > 0) await sleep(delayMs);
    const target = String(request.headers['x-amz-target']);
    const input = JSON.parse(body) as Readonly<Record<string, unknown>>;
    const note = (outcome: string): void => {
      const bytes = Buffer.from(String(input.Message ?? ''), 'base64').length;
      if (target === 'TrentService.Sign') signed.push({ answer: outcome, bytes });
    };
    try {
      const region = checkSignature(request, body);
      if (how === 'throttle') throw new KmsError('ThrottlingException', 'Rate exceeded');
      if (how === 'fail') throw new KmsError('KMSInternalException', 'An internal error occurred', 500);
      const output = operate(target, input, region, keys, createKey);
      note('ok');
      reply(response, 200, output);
    } catch (error) {
      if (!(error instanceof KmsError)) throw error;
      note(error.type);
      reply(response, error.status, { __type: error.type, message: error.message });
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: {
      AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    },
    createKey: () => `aws-kms:${createKey().arn}`,
    setState: (uri, state) => {
      const key = keys.get(uri.replace('aws-kms:', ''));
      if (key === undefined) throw new Error(`no key ${uri}`);
      key.state = state;
    },
    behave: (how, count = 0) => {
      [behaviour, left] = [how, count];
    },
    delayBy: (ms) => {
      delayMs = ms;
    },
    signed,
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
};

const reply = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.1',
    'x-amzn-requestid': randomUUID(),
  });
  response.end(JSON.stringify(body));
};

const operate = (
  target: string,
  input: Readonly<Record<string, unknown>>,
  region: string,
  keys: ReadonlyMap<string, Key>,
  createKey: (region: string) => Key,
): object => {
  if (target === 'TrentService.CreateKey') {
    if (input.KeySpec !== 'ECC_NIST_EDWARDS25519' || input.KeyUsage !== 'SIGN_VERIFY')
      throw new KmsError(
        'ValidationException',
        `KeySpec ${String(input.KeySpec)} is not one of this service's`,
      );
    const { arn } = createKey(region);
    return { KeyMetadata: { Arn: arn, KeyId: arn.split('/')[1], KeyState: 'Enabled' } };
  }
  const key = keys.get(String(input.KeyId));
  // Each region has its own keys.
  if (key === undefined || !key.arn.startsWith(`arn:aws:kms:${region}:`))
    throw new KmsError('NotFoundException', `Key '${String(input.KeyId)}' does not exist`);
  if (target === 'TrentService.GetPublicKey')
    return {
      KeyId: key.arn,
      KeySpec: 'ECC_NIST_EDWARDS25519',
      PublicKey: key.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    };
  if (target === 'TrentService.Sign') return signWith(key, input);
  throw new KmsError('UnknownOperationException', `${target} is not an operation`);
};

const signWith = (key: Key, input: Readonly<Record<string, unknown>>): object => {
  if (key.state === 'Disabled') throw new KmsError('DisabledException', `${key.arn} is disabled.`);
  if (key.state === 'PendingDeletion')
    throw new KmsError('KMSInvalidStateException', `${key.arn} is pending deletion.`);
  const message = Buffer.from(String(input.Message ?? ''), 'base64');
  if (message.length < 1 || message.length > MAX_MESSAGE_BYTES)
    throw new KmsError(
      'ValidationException',
      "1 validation error detected: Value at 'message' failed to satisfy constraint: Member must have length less than or equal to 4096",
    );
  // ED25519_PH_SHA_512 is for `DIGEST`, and makes another kind of signature.
  if (input.SigningAlgorithm !== 'ED25519_SHA_512' || (input.MessageType ?? 'RAW') !== 'RAW')
    throw new KmsError(
      'ValidationException',
      `Algorithm ${String(input.SigningAlgorithm)} with ${String(input.MessageType)}`,
    );
  const signature = sign(null, message, key.privateKey).toString('base64');
  return { KeyId: key.arn, Signature: signature, SigningAlgorithm: 'ED25519_SHA_512' };
};

/** Verifies Signature Version 4 as AWS does. Returns the region for which the request is signed. */
const checkSignature = ({ method = '', url = '', headers }: IncomingMessage, body: string): string => {
  const given = String(headers.authorization ?? '');
  const [, credential = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(given) ??
    [];
  const at = String(headers['x-amz-date']);
  const [accessKey, ...scope] = credential.split('/');
  const [, region = ''] = scope;
  const expectedScope = [at.slice(0, 8), region, 'kms', 'aws4_request'];
  if (accessKey !== ACCESS_KEY)
    throw new KmsError(
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );
  const atMs = Date.parse(at.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - atMs) < MAX_SKEW_MS))
    throw new KmsError('InvalidSignatureException', 'Signature expired');
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const canonical = [
    ...[method, url, ''],
    ...names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    ...['', names, sha256(body)],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', at, expectedScope.join('/'), sha256(canonical)].join('\n');
  const key = expectedScope.reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${SECRET_KEY}`,
  );
  const isRight =
    hmac(key, text).toString('hex') === signature && scope.join('/') === expectedScope.join('/');
  const isBound = ['host', 'x-amz-date', 'x-amz-target'].every((name) => names.split(';').includes(name));
  if (!isRight || !isBound)
    throw new KmsError(
      'InvalidSignatureException',
      'The request signature we calculated does not match the one you provided.',
    );
  return region;
};
