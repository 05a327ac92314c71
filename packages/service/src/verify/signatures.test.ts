import { generateKeyPairSync, sign } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CryptoPort, encodeBase64urlText, evaluateJson, parsePresented } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { sampled, sampleOf } from '@svc/testkit/sampled';
import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { Random } from '@svc/vectors/src/random/random.ts';
import { randomInput } from '@svc/vectors/src/random/random-input.ts';
import { KEYS } from '@svc/vectors/src/test-keys.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, checkedOnce, GrantMemo } from './signatures.ts';

const vectors = readEvaluateVectors();
const honest = vectors.find(({ expected }) => expected.body.reason === null)?.input as Input;
interface Input {
  readonly grant: string;
  readonly proof: string;
  readonly action: unknown;
}

/** A port that records the calls of an evaluation, with their answers. */
const asking = (crypto: CryptoPort) => {
  const asked: Parameters<CryptoPort['verify']>[] = [];
  const hashed: Parameters<CryptoPort['sha256Hex']>[0][] = [];
  const port: CryptoPort = {
    isStrictKey: (key) => crypto.isStrictKey(key),
    sha256Hex: (data) => {
      hashed.push(data);
      return crypto.sha256Hex(data);
    },
    verify: (...question) => {
      asked.push(question);
      return crypto.verify(...question);
    },
  };
  return { asked, hashed, port };
};

const attempt = (evaluate: () => unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(evaluate()));
  } catch (error) {
    return String(error);
  }
};

describe('GrantMemo', () => {
  /** The engine has no other input than the parsed request and the answers of the port. */
  const expectTheSame = (memo: GrantMemo, input: Input): boolean => {
    const plain = asking(nativeCrypto);
    const expected = attempt(() => evaluateJson(input, plain.port));
    const { presented, crypto } = memo.read(input);
    expect(presented).toEqual(parsePresented(input));
    expect(attempt(() => evaluateJson(input, crypto))).toEqual(expected);
    for (const question of plain.asked)
      expect(crypto.verify(...question)).toBe(nativeCrypto.verify(...question));
    const [one, other] = [memo.read(input), memo.read(input)];
    return one.presented.grant === other.presented.grant;
  };

  it('evaluates all vectors with the same result as without it', () => {
    const memo = new GrantMemo(nativeCrypto);
    const known = [1, 2].map(
      () => sampleOf(vectors, 80).filter(({ input }) => expectTheSame(memo, input)).length,
    );
    expect(known[0]).toBeGreaterThan(40);
    expect(known[1]).toBeGreaterThanOrEqual(known[0] ?? 0);
  });

  it('evaluates random requests with the same result as without it, also with room for only a few Grants', () => {
    for (const maxBytes of [2 ** 27, 100_000]) {
      const memo = new GrantMemo(nativeCrypto, maxBytes);
      const random = new Random(7);
      for (let i = 0; i < sampled({ quick: 30, deep: 3_000 }); i++) {
        const input = randomInput(random) as Input | null;
        if (typeof input?.grant !== 'string' || typeof input.proof !== 'string') continue;
        expectTheSame(memo, input);
        expectTheSame(memo, input);
        expect(memo.size).toBeLessThanOrEqual(maxBytes);
      }
    }
  });

  it('verifies a known Grant like the plain crypto under other keys, with a changed text and with a changed signature', () => {
    const memo = new GrantMemo(nativeCrypto);
    const { grant } = parsePresented(honest);
    if (!grant.ok) throw new Error(grant.problem);
    const { signingInput, signature } = grant.value;
    const keys = Object.values(KEYS).map(({ publicKey }) => publicKey);
    const questions = fc.record({
      key: fc.constantFrom(...keys),
      at: fc.option(fc.nat(signingInput.length - 1), { freq: 2 }),
      bit: fc.option(fc.nat(511), { freq: 2 }),
    });
    const whole = keys.map((key): [{ key: Uint8Array; at: null; bit: null }] => [
      { key, at: null, bit: null },
    ]);
    let verified = 0;
    let changed = 0;
    fc.assert(
      fc.property(questions, ({ key, at, bit }) => {
        const text =
          at === null ? signingInput : `${signingInput.slice(0, at)}~${signingInput.slice(at + 1)}`;
        const bytes = signature.map((byte, i) =>
          bit !== null && i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
        );
        const verdict = memo.read(honest).crypto.verify(key, text, bytes);
        expect(verdict).toBe(nativeCrypto.verify(key, text, bytes));
        if (verdict) verified++;
        if (at !== null || bit !== null) changed++;
      }),
      // `whole`: the unchanged text under each key, before and after the random inputs.
      { numRuns: sampled({ quick: 200, deep: 2_000 }), examples: whole },
    );
    expect(verified).toBeGreaterThan(0);
    expect(changed).toBeGreaterThan(50);
  });

  it('treats a text that differs in any character as another Grant', () => {
    const memo = new GrantMemo(nativeCrypto);
    evaluateJson(honest, memo.read(honest).crypto);
    const known = memo.read(honest).presented.grant;
    expect(memo.read(honest).presented.grant).toBe(known);
    fc.assert(
      fc.property(fc.nat(honest.grant.length - 1), fc.constantFrom('A', 'g', '.', 'é'), (at, character) => {
        const grant = `${honest.grant.slice(0, at)}${character}${honest.grant.slice(at + 1)}`;
        const input = { ...honest, grant };
        if (grant !== honest.grant) expect(memo.read(input).presented.grant).not.toBe(known);
        expect(memo.read(input).presented).toEqual(parsePresented(input));
      }),
    );
  });

  it('parses, hashes and verifies a Grant again only until it has verified once', () => {
    const { asked, hashed, port } = asking(nativeCrypto);
    const memo = new GrantMemo(port);
    expect(memo.read(honest).presented.grant).not.toBe(memo.read(honest).presented.grant);
    const { presented, crypto } = memo.read(honest);
    const first = evaluateJson(honest, crypto);
    const [checks, hashes] = [asked.length, hashed.filter((data) => data === honest.grant).length];
    const again = memo.read(honest);
    expect(again.presented.grant).toBe(presented.grant);
    expect(evaluateJson(honest, again.crypto)).toEqual(first);
    // Only the signature of the Proof is checked again.
    expect(asked.slice(checks)).toHaveLength(1);
    expect(hashed.filter((data) => data === honest.grant)).toHaveLength(hashes);
  });

  it('copies the key that it checked under, so that later changes to the passed bytes have no effect', () => {
    const memo = new GrantMemo(nativeCrypto);
    const { presented, crypto } = memo.read(honest);
    if (!presented.grant.ok) throw new Error(presented.grant.problem);
    const { signingInput, signature } = presented.grant.value;
    const key = Uint8Array.from(KEYS.principal.publicKey);
    expect(crypto.verify(key, signingInput, signature)).toBe(true);
    key.set(KEYS.agent.publicKey);
    expect(memo.read(honest).crypto.verify(key, signingInput, signature)).toBe(false);
  });
});

describe('the memory of GrantMemo', () => {
  const pair = generateKeyPairSync('ed25519');
  const key = new Uint8Array(Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'));
  const { header, payload } = (() => {
    const [one = '', two = ''] = honest.grant.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    return { header: one, payload: read(two) };
  })();
  /** A signed Grant. All differ only in their index in the status list, and in `extra`. */
  const grantOf = (i: number, extra: object = {}): string => {
    const { credentialSubject, credentialStatus } = payload;
    const capabilities = credentialSubject.capabilities.map((one: { constraints: object }) => ({
      ...one,
      constraints: { ...one.constraints, ...extra },
    }));
    const text = JSON.stringify({
      ...payload,
      credentialSubject: { ...credentialSubject, capabilities },
      credentialStatus: {
        ...credentialStatus,
        id: `${credentialStatus.statusListCredential}#${i}`,
        statusListIndex: String(i),
      },
    });
    const signingInput = `${header}.${encodeBase64urlText(text)}`;
    return `${signingInput}.${sign(null, Buffer.from(signingInput), pair.privateKey).toString('base64url')}`;
  };
  const remember = (memo: GrantMemo, grant: string) => {
    const { presented, crypto } = memo.read({ grant, proof: '', action: null });
    if (!presented.grant.ok) throw new Error(presented.grant.problem);
    const { signingInput, signature } = presented.grant.value;
    expect(crypto.verify(key, signingInput, signature)).toBe(true);
    return presented.grant;
  };

  it('is bounded in bytes: the least recently presented Grant is dropped first', () => {
    const one = bytesOf(parsePresented({ grant: grantOf(0), proof: '', action: null }).grant);
    const memo = new GrantMemo(nativeCrypto, 5.5 * one);
    const find = (i: number) =>
      memo.read({ grant: grants[i] ?? '', proof: '', action: null }).presented.grant;
    const grants = Array.from({ length: 12 }, (_, i) => grantOf(i));
    const kept = grants.map((grant) => {
      const parsed = remember(memo, grant);
      expect(memo.size).toBeLessThanOrEqual(5.5 * one);
      return parsed;
    });
    expect(kept.map((parsed, i) => find(i) === parsed)).toEqual(kept.map((_, i) => i >= 7));
  });

  it('holds no Grant that did not verify, and none larger than its limit', () => {
    const memo = new GrantMemo(nativeCrypto, 1_000);
    evaluateJson(honest, memo.read(honest).crypto);
    expect(memo.size).toBe(0);
    const roomy = new GrantMemo(nativeCrypto);
    const forged = { ...honest, grant: `${honest.grant.slice(0, -90)}${'A'.repeat(90)}` };
    attempt(() => evaluateJson(forged, roomy.read(forged).crypto));
    expect(roomy.size).toBe(0);
  });

  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const grants: [string, object][] = [
    ['as they usually are', {}],
    ['of many short texts', { x: Array.from({ length: 900 }, (_, i) => `${i}`) }],
    ['of nested arrays', { x: Array.from({ length: 1_500 }, () => [[]]) }],
    ['of empty objects', { x: Array.from({ length: 2_500 }, () => ({})) }],
    ['of many members', Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`k${i}`, i]))],
  ];
  it.each(sampled({ quick: grants.slice(2, 3), deep: grants }))(
    'is counted as at least what it takes on the heap: Grants %s, cut out of larger bodies',
    (_, extra) => {
      /** By how many bytes the counted size exceeds the memory used. */
      const measure = (): number => {
        const memo = new GrantMemo(nativeCrypto);
        const bodies = Array.from({ length: 60 }, (__, i) => `${' '.repeat(16_000)}${grantOf(i, extra)}`);
        remember(memo, grantOf(1_000, extra));
        const before = [heap(), memo.size] as const;
        while (bodies.length > 0) remember(memo, (bodies.pop() ?? '').slice(16_000));
        const after = [heap(), memo.size] as const;
        expect(after[1] - before[1]).toBeGreaterThan(0);
        return after[1] - before[1] - (after[0] - before[0]);
      };
      const margins = [measure()];
      // Other work of the process may disturb one measurement, or two.
      while (margins.length < 3 && margins.every((bytes) => bytes <= 0)) margins.push(measure());
      expect(Math.max(...margins)).toBeGreaterThan(0);
    },
  );
});

const counting = () => {
  const asked: string[] = [];
  const crypto = {
    sha256Hex: () => '',
    isStrictKey: () => true,
    verify: (key: Uint8Array, message: string, signature: Uint8Array) => {
      asked.push(message);
      return key[0] === signature[0];
    },
  } as unknown as CryptoPort;
  return { asked, once: checkedOnce(crypto) };
};
const of = (...values: number[]) => Uint8Array.from(values);

it('checkedOnce verifies a signature once and repeats the result, valid or not', () => {
  const { asked, once } = counting();
  const verify = () => [once.verify(of(1), 'a', of(1)), once.verify(of(1), 'b', of(2))];
  expect([verify(), verify()]).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(asked).toEqual(['a', 'b']);
});

it('checkedOnce verifies again under another key, or for another signature over the same text', () => {
  const { asked, once } = counting();
  expect(once.verify(of(1), 'a', of(1))).toBe(true);
  expect(once.verify(of(2), 'a', of(1))).toBe(false);
  expect(once.verify(of(2), 'a', of(2))).toBe(true);
  expect(once.verify(of(2), 'a', of(2, 0))).toBe(true);
  expect(asked).toHaveLength(4);
});
