import crypto from 'node:crypto';
import { sampled } from '@svc/testkit/sampled';
import { listThirdParty, readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { flip, numberedLeaves, pathOf, rootOf, sidesOf } from '../test/rfc6962.ts';
import {
  emptyRoot,
  formatHash,
  hashLeaf,
  type Inclusion,
  MerkleTree,
  parseHash,
  portableSha256,
  proveInclusion,
  rootOfInclusion,
  verifyInclusion,
} from './index.ts';
import { nativeSha256 } from './native.ts';

const leaves = numberedLeaves(300);
const proofOf = (index: number, size: number): Inclusion => proveInclusion(index, leaves.slice(0, size));
const rootOfSize = (size: number): Uint8Array => rootOf(leaves.slice(0, size));

const BITS = Array.from({ length: 256 }, (_, bit) => bit);

describe.each([
  ['portable', portableSha256],
  ['native', nativeSha256],
])('Merkle trees with %s hashing', (_, sha256) => {
  it('give the hashes of the reference implementation of RFC 6962', () => {
    expect(formatHash(emptyRoot(sha256))).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    expect(formatHash(hashLeaf('', sha256))).toBe(
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    );
    expect(formatHash(hashLeaf('L123456', sha256))).toBe(
      '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
    );
  });

  it('hash a text as its UTF-8 bytes', () => {
    expect(hashLeaf(new TextEncoder().encode('Zürich'), sha256)).toEqual(hashLeaf('Zürich', sha256));
    expect(hashLeaf(Uint8Array.of(0xff), sha256)).not.toEqual(hashLeaf('\u00ff', sha256));
  });

  it('give the roots and proofs of the recursion in RFC 6962 for every leaf of sizes 1 to 40', () => {
    for (let size = 1; size <= 40; size++) {
      const first = leaves.slice(0, size);
      const tree = new MerkleTree(first, sha256);
      expect(tree.root).toEqual(rootOf(first));
      for (let index = 0; index < size; index++) {
        const inclusion = tree.proveInclusion(index);
        expect(inclusion).toEqual({ leafHash: first[index], index, size, path: pathOf(index, first) });
        expect(verifyInclusion(inclusion, tree.root, sha256)).toBe(true);
      }
    }
  });

  it('hash nodes differently from leaves: a tree of two leaves has another root than one leaf of their 64 bytes', () => {
    const [left, right] = [hashLeaf('l', sha256), hashLeaf('r', sha256)];
    const both = new Uint8Array([...left, ...right]);
    expect(new MerkleTree([left, right], sha256).root).not.toEqual(hashLeaf(both, sha256));
  });
});

it('nativeSha256 uses crypto.hash if the runtime has it, and gives the same hash without it', async () => {
  const original = Object.getOwnPropertyDescriptor(crypto, 'hash');
  const data = Uint8Array.of(1, 2, 3);
  const digestWith = async (hash: unknown) => {
    Object.defineProperty(crypto, 'hash', { ...original, value: hash });
    vi.resetModules();
    return (await import('./native.ts')).nativeSha256(data);
  };
  try {
    const hash = vi.fn(() => '\u0007'.repeat(32));
    expect(await digestWith(hash)).toEqual(new Uint8Array(32).fill(7));
    expect(await digestWith(undefined)).toEqual(portableSha256(data));
  } finally {
    if (original !== undefined) Object.defineProperty(crypto, 'hash', original);
  }
});

describe('an inclusion proof is refused', () => {
  it('after any bit of its leaf, its path or the root is flipped, for every leaf of sizes 1 to 9', () => {
    for (let size = 1; size <= 9; size++) {
      const root = rootOfSize(size);
      for (let index = 0; index < size; index++) {
        const good = proofOf(index, size);
        const { leafHash, path } = good;
        const verify = (changes: Partial<Inclusion>, other = root) =>
          verifyInclusion({ ...good, ...changes }, other, nativeSha256);
        for (const bit of BITS) {
          const changed = [
            verify({ leafHash: flip(leafHash, bit) }),
            verify({}, flip(root, bit)),
            ...path.map((_, at) => verify({ path: path.with(at, flip(path[at] ?? leafHash, bit)) })),
          ];
          if (changed.includes(true)) expect.fail(`bit ${bit} of leaf ${index} of ${size}`);
        }
        expect(verify({})).toBe(true);
      }
    }
  });

  it('after any bit of its index is flipped', () => {
    for (let size = 1; size <= 33; size++) {
      const root = rootOfSize(size);
      for (let index = 0; index < size; index++) {
        const good = proofOf(index, size);
        for (let bit = 0; bit < 53; bit++) {
          const flipped = Number(BigInt(index) ^ (1n << BigInt(bit)));
          if (verifyInclusion({ ...good, index: flipped }, root, nativeSha256))
            expect.fail(`bit ${bit} of index ${index} of ${size}`);
        }
        expect(verifyInclusion(good, root)).toBe(true);
      }
    }
  });

  it('for another size, unless the path to the leaf is the same in a tree of that size', () => {
    let told = 0;
    for (let size = 1; size <= 33; size++) {
      const root = rootOfSize(size);
      for (let index = 0; index < size; index++) {
        const good = proofOf(index, size);
        for (let other = 0; other <= 70; other++) {
          const sameWay = other > index && sidesOf(index, other) === sidesOf(index, size);
          if (verifyInclusion({ ...good, size: other }, root, nativeSha256) !== sameWay)
            expect.fail(`leaf ${index} of ${size} as one of ${other}`);
          if (!sameWay) told++;
        }
      }
    }
    expect(told).toBeGreaterThan(30_000);
  });

  it('if its path is longer or shorter, or a hash in it has another length', () => {
    for (const [index, size] of [
      [0, 1],
      [0, 2],
      [4, 5],
      [6, 7],
      [2, 8],
      [255, 257],
      [256, 257],
    ] as const) {
      const good = proofOf(index, size);
      const root = rootOfSize(size);
      const verify = (path: readonly Uint8Array[]) => verifyInclusion({ ...good, path }, root);
      expect(verify(good.path)).toBe(true);
      const extra = hashLeaf('extra');
      for (const path of [
        [...good.path, extra],
        [extra, ...good.path],
        [...good.path, new Uint8Array(0)],
        ...(good.path.length === 0 ? [] : [good.path.slice(1), good.path.slice(0, -1), []]),
        ...(good.path.length < 2 ? [] : [good.path.toReversed()]),
        ...good.path.map((hash, at) => good.path.with(at, hash.subarray(1))),
        ...good.path.map((hash, at) => good.path.with(at, new Uint8Array([...hash, 0]))),
      ])
        expect(verify(path)).toBe(false);
    }
  });

  it('without an exception if its index or size is invalid, or its leaf or root has another length', () => {
    const good = proofOf(3, 7);
    const root = rootOfSize(7);
    for (const [index, size] of [
      ...([
        [7, 7],
        [-1, 7],
        [3, 0],
        [3, -7],
        [0.5, 7],
        [3, 7.5],
        [Number.NaN, 7],
        [3, Number.NaN],
      ] as const),
      ...([
        [3, Number.POSITIVE_INFINITY],
        [2 ** 53, 2 ** 53 + 2],
        [3, 2 ** 64],
        [3 + 2 ** 32, 7],
      ] as const),
    ]) {
      expect(verifyInclusion({ ...good, index, size }, root)).toBe(false);
      expect(rootOfInclusion({ ...good, index, size })).toBeNull();
    }
    expect(rootOfInclusion({ ...good, leafHash: new Uint8Array(31) })).toBeNull();
    expect(verifyInclusion(good, root.subarray(1))).toBe(false);
    expect(verifyInclusion(good, new Uint8Array(0))).toBe(false);
    expect(verifyInclusion(good, new Uint8Array([...root, 0]))).toBe(false);
  });
});

it('verifyInclusion handles indexes beyond 32 bits exactly', () => {
  // The last leaf of 2^40 + 1 moves up unchanged: its only sibling is the root of all others.
  const [leafHash, rest] = [hashLeaf('last'), hashLeaf('rest')];
  const size = 2 ** 40 + 1;
  const root = new MerkleTree([rest, leafHash]).root;
  expect(verifyInclusion({ leafHash, index: size - 1, size, path: [rest] }, root)).toBe(true);
  expect(verifyInclusion({ leafHash, index: size - 2, size, path: [rest] }, root)).toBe(false);
});

describe('a tree in memory', () => {
  it('has the empty root without leaves, and throws a RangeError for a proof of a missing leaf', () => {
    expect(new MerkleTree([]).root).toEqual(emptyRoot());
    for (const [index, size] of [
      [0, 0],
      [3, 3],
      [-1, 3],
      [0.5, 3],
    ] as const)
      expect(() => proveInclusion(index, leaves.slice(0, size))).toThrow(RangeError);
    expect(() => new MerkleTree([new Uint8Array(31)])).toThrow(RangeError);
  });

  it('has equal roots only for equal lists of leaves', () => {
    const list = fc.array(fc.nat(3), { maxLength: 12 });
    const treeOf = (numbers: readonly number[]) =>
      formatHash(new MerkleTree(numbers.map((n) => leaves[n] ?? emptyRoot())).root);
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(treeOf(a) === treeOf(b)).toBe(a.join() === b.join());
      }),
      { numRuns: sampled({ quick: 60, deep: 300 }) },
    );
  });
});

it('parseHash accepts only the lower-case hex form that formatHash writes', () => {
  const hash = hashLeaf('x');
  const text = formatHash(hash);
  expect(parseHash(text)).toEqual(hash);
  for (const other of [text.toUpperCase(), text.slice(1), `${text}0`, `${text}\n`, `0x${text.slice(2)}`, ''])
    expect(parseHash(other)).toBeNull();
});

describe('the public vectors of transparency-dev/merkle', () => {
  interface PublicVector {
    readonly leafIdx: number;
    readonly treeSize: number;
    readonly root: string;
    readonly leafHash: string;
    readonly proof: readonly string[] | null;
    readonly desc: string;
    readonly wantErr: boolean;
  }
  const files = listThirdParty('merkle-inclusion', '.json');
  const bytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));

  it('are 98 files', () => {
    expect(files).toHaveLength(98);
  });

  it.each(files)('verify as prescribed: %s', (file) => {
    const vector = readThirdPartyJson<PublicVector>(file);
    const inclusion = {
      leafHash: bytes(vector.leafHash),
      index: vector.leafIdx,
      size: vector.treeSize,
      path: (vector.proof ?? []).map(bytes),
    };
    for (const sha256 of [portableSha256, nativeSha256])
      expect(verifyInclusion(inclusion, bytes(vector.root), sha256)).toBe(!vector.wantErr);
  });
});
