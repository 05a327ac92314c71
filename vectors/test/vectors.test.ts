import { createHash } from 'node:crypto';
import {
  encodeBase64url,
  evaluateJson,
  isJti,
  type JsonObject,
  type JsonValue,
  jcs,
  normalizeHtu,
  portableCrypto,
  sha256Of,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  createBitstring,
  decodeBitstring,
  encodeBitstring,
  getBit,
  parseStatusListCredential,
  setBit,
} from '@svc/status-list';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { compactVerify, importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { RECEIPT_TYP, signReceipt } from '../src/evaluate-vectors.ts';
import { readEvaluateVectors, readVectorFile } from '../src/published.ts';
import { compileSchema } from '../src/schemas.ts';
import { KEYS, RECEIPT_KID, STATUS_KID, type TestKey } from '../src/test-keys.ts';
import { buildExpectedFiles, findDifferences, readVectorFiles } from '../src/vector-files.ts';
import { SET_HASH_RULE } from '../src/vector-set.ts';

const vectors = readEvaluateVectors();

const jwk = (key: TestKey) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  x: encodeBase64url(key.publicKey),
});

/** What jose says about a token: its header and payload text, if the signature verifies. */
const verifyWithJose = async (token: string, key: TestKey) => {
  const { payload, protectedHeader } = await compactVerify(token, await importJWK(jwk(key)), {
    algorithms: ['EdDSA', 'Ed25519'],
  });
  return { protectedHeader, payload: new TextDecoder().decode(payload) };
};

describe('the vector set', () => {
  it('equals what its source generates, file by file', async () => {
    expect(findDifferences(await buildExpectedFiles(), readVectorFiles())).toEqual([]);
  });

  it('has the hashes that its manifest states', () => {
    const manifest = readVectorFile<{
      sha256: string;
      sha256_rule: string;
      files: { path: string; sha256: string }[];
    }>('manifest.json');
    const hex = (data: string) => createHash('sha256').update(data).digest('hex');
    const paths = [...readVectorFiles()]
      .filter(([path]) => path !== 'manifest.json')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    expect(manifest.files).toEqual(paths.map(([path, text]) => ({ path, sha256: `sha256:${hex(text)}` })));
    const lines = paths.map(([path, text]) => `${hex(text)}  ${path}\n`).join('');
    expect(manifest.sha256).toBe(`sha256:${hex(lines)}`);
    expect(manifest.sha256_rule).toBe(SET_HASH_RULE);
  });

  it.each(['htu', 'jcs', 'jti', 'keys', 'manifest', 'merkle', 'status-list'])(
    'has a %s.json that conforms to its schema',
    (name) => {
      const validate = compileSchema(name);
      validate(readVectorFile(`${name}.json`));
      expect(validate.errors).toBeNull();
    },
  );

  it('has evaluate vectors that conform to their schema, in files named by their ids', () => {
    const validate = compileSchema('evaluate');
    for (const vector of vectors) {
      validate(vector);
      expect({ id: vector.id, errors: validate.errors }).toEqual({ id: vector.id, errors: null });
    }
    const names = [...readVectorFiles().keys()].filter((path) => path.startsWith('evaluate/'));
    expect(names.sort()).toEqual(vectors.map(({ id }) => `evaluate/${id}.json`).sort());
  });
});

describe.each([
  ['portable', portableCrypto, sampleOf(vectors, 40), true],
  // In a sample the files above show that the others give their bodies too.
  ['native', nativeCrypto, sampleOf(vectors, 120), isDeep],
])('evaluate with %s cryptography', (_, crypto, some, signs) => {
  it.each(some.map((vector) => [vector.id, vector] as const))(
    'gives the published body of %s',
    async (_id, { input, expected }) => {
      const body = evaluateJson(input, crypto);
      expect(body).toEqual(expected.body);
      expect([body.decision, body.reason]).toEqual([expected.decision, expected.reason]);
      expect(JSON.stringify(body)).toBe(jcs(body as unknown as JsonObject));
      // The same body is signed the same: above, file for file.
      if (signs) expect(await signReceipt(body)).toBe(expected.receipt);
    },
  );
});

describe('the jose library verifies', () => {
  it('the signature of Receipts by the receipt key over the JCS form of their bodies', async () => {
    for (const { expected } of sampleOf(vectors, 200)) {
      const { payload, protectedHeader } = await verifyWithJose(expected.receipt, KEYS.receipt);
      expect(payload).toBe(jcs(expected.body as unknown as JsonObject));
      expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: RECEIPT_KID, typ: RECEIPT_TYP });
    }
  });

  it('the Grant and the Proof of every ALLOW under the keys of the Principal and the Agent', async () => {
    const allowed = vectors.filter(({ expected }) => expected.decision === 'ALLOW');
    expect(allowed.length).toBeGreaterThan(50);
    for (const { input } of allowed) {
      await expect(verifyWithJose(input.grant, KEYS.principal)).resolves.toBeDefined();
      await expect(verifyWithJose(input.proof, KEYS.agent)).resolves.toBeDefined();
    }
  });
});

interface Cases<T> {
  readonly cases: readonly ({ readonly description: string } & T)[];
}

describe('the vectors of htu, jti and jcs', () => {
  it.each(readVectorFile<Cases<{ input: string; expected: string | null }>>('htu.json').cases)(
    'hold for normalizeHtu: $description',
    ({ input, expected }) => {
      expect(normalizeHtu(input)).toBe(expected);
      if (expected !== null) expect(normalizeHtu(expected)).toBe(expected);
    },
  );

  it.each(readVectorFile<Cases<{ input: string; expected: boolean }>>('jti.json').cases)(
    'hold for isJti: $description',
    ({ input, expected }) => {
      expect(isJti(input)).toBe(expected);
    },
  );

  const jcsCases =
    readVectorFile<Cases<{ json: string; canonical: string | null; sha256: string | null }>>('jcs.json');
  it.each(jcsCases.cases)('hold for jcs: $description', ({ json, canonical, sha256 }) => {
    const value = JSON.parse(json) as JsonValue;
    if (canonical === null) {
      expect(() => jcs(value)).toThrow('lone surrogate');
      return;
    }
    expect(jcs(value)).toBe(canonical);
    expect(jcs(JSON.parse(canonical) as JsonValue)).toBe(canonical);
    for (const crypto of [portableCrypto, nativeCrypto]) expect(sha256Of(crypto, canonical)).toBe(sha256);
  });
});

describe('the vectors of status lists', () => {
  interface Content {
    readonly entries: number;
    readonly set: readonly number[];
  }
  const file = readVectorFile<{
    encode: ({ description: string } & Content)[];
    decode: { description: string; encoded_list: string; expected: Content | null }[];
    credentials: {
      description: string;
      url: string;
      set: number[];
      credential_hash: string;
      credential: string;
    }[];
  }>('status-list.json');

  const bitsOf = ({ entries, set }: Content) => {
    const bits = createBitstring(entries);
    for (const index of set) setBit(bits, index);
    return bits;
  };

  /** vitest would compare every byte as a value of its own. */
  const expectSame = (bits: Uint8Array | null, expected: Uint8Array) =>
    expect(bits !== null && Buffer.compare(bits, expected)).toBe(0);

  it.each(file.encode)('give the same bits after encoding and decoding: $description', (content) => {
    expectSame(decodeBitstring(encodeBitstring(bitsOf(content))), bitsOf(content));
  });

  it.each(file.decode)('decode as stated: $description', ({ encoded_list: text, expected }) => {
    if (expected === null) expect(decodeBitstring(text)).toBeNull();
    else expectSame(decodeBitstring(text), bitsOf(expected));
  });

  it.each(file.credentials)(
    'are signed by the status key and contain the stated bits: $description',
    async ({ url, set, credential, credential_hash: hash }) => {
      const { payload, protectedHeader } = await verifyWithJose(credential, KEYS.status);
      expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: STATUS_KID, typ: 'vc+jwt' });
      expect(sha256Of(portableCrypto, credential)).toBe(hash);
      const parsed = parseStatusListCredential(JSON.parse(payload));
      expect(parsed?.id).toBe(url);
      const bits = decodeBitstring(parsed?.credentialSubject.encodedList ?? '');
      for (const index of set) expect(bits !== null && getBit(bits, index)).toBe(true);
      expectSame(bits, bitsOf({ entries: 131072, set }));
    },
  );

  it('include every list that an evaluate vector names, with the same revocation bit', () => {
    const published = new Map(file.credentials.map(({ credential_hash: hash, set }) => [hash, set]));
    for (const { input } of vectors) {
      const { status } = input.facts;
      if (typeof status === 'string') continue;
      const set = published.get(status.found.credential_hash);
      expect(set).toBeDefined();
      if (status.found.checked_at > '2026-11-20T09:30')
        expect(set?.includes(94567)).toBe(status.found.revoked);
    }
  });
});
