/**
 * The published vectors as cases of the wire contract (vectors/README.md). The files are verified against the hashes of
 * the manifest, so the hash of the set in a report identifies exactly these cases.
 */
import { type JsonValue, portableCrypto, sha256Of } from '@svc/protocol';
import type { CaseOp } from './wire.ts';

/** One vector as a case for an endpoint. */
export interface ConformanceCase {
  /** Unique within its op: the id of an evaluate case, otherwise file and JSON pointer. */
  readonly id: string;
  readonly description: string;
  readonly op: CaseOp;
  /** The profile that an endpoint must support for this case; null if any will do. */
  readonly profile: string | null;
  readonly input: JsonValue;
  readonly expected: JsonValue;
  /** The signed Receipt of an evaluate case, for endpoints that sign. */
  readonly receipt: string | null;
}

/** A set of vectors that was read and compared with its manifest. */
export interface VectorSet {
  readonly conformanceVersion: string;
  /** SHA-256 of the whole set, as in the manifest. */
  readonly sha256: string;
  readonly cases: readonly ConformanceCase[];
}

/** A file of the set is missing, malformed, or differs from the manifest. */
export class VectorSetError extends Error {
  override readonly name = 'VectorSetError';
}

/** Path of the manifest within a set. It names every other file with its SHA-256. */
export const MANIFEST_PATH = 'manifest.json';

interface Manifest {
  readonly conformance_version: string;
  readonly sha256: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

/** The paths that the manifest lists. Throws VectorSetError. */
export const listVectorPaths = (manifestText: string): readonly string[] =>
  parseManifest(manifestText).files.map(({ path }) => path);

/** `files`: the text of the manifest and of every file that it lists, by path. Throws VectorSetError. */
export const parseVectorSet = (files: ReadonlyMap<string, string>): VectorSet => {
  const manifest = parseManifest(textOf(files, MANIFEST_PATH));
  const lines = manifest.files.map(({ path, sha256 }) => {
    const found = sha256Of(portableCrypto, textOf(files, path));
    if (found !== sha256) throw new VectorSetError(`${path} is not the file that the manifest lists`);
    return `${sha256.slice('sha256:'.length)}  ${path}\n`;
  });
  if (sha256Of(portableCrypto, lines.join('')) !== manifest.sha256)
    throw new VectorSetError('the manifest has not the hash of its files');
  return {
    conformanceVersion: manifest.conformance_version,
    sha256: manifest.sha256,
    cases: [
      ...manifest.files
        .filter(({ path }) => path.startsWith('evaluate/'))
        .map(({ path }) => readCases(files, path, evaluateCase)),
      ...readCases(files, 'htu.json', htuCases),
      ...readCases(files, 'jcs.json', jcsCases),
      ...readCases(files, 'jti.json', jtiCases),
    ],
  };
};

/** Reports vectors that are malformed although their hashes are correct. */
const readCases = <V, T>(files: ReadonlyMap<string, string>, path: string, read: (vector: V) => T): T => {
  const text = textOf(files, path);
  try {
    return read(JSON.parse(text));
  } catch {
    throw new VectorSetError(`${path} holds no vectors`);
  }
};

const textOf = (files: ReadonlyMap<string, string>, path: string): string => {
  const text = files.get(path);
  if (text === undefined) throw new VectorSetError(`${path} is missing`);
  return text;
};

const parseManifest = (text: string): Manifest => {
  try {
    const manifest: Partial<Manifest> = JSON.parse(text);
    const { conformance_version, sha256, files } = manifest;
    const isOfStrings = typeof conformance_version === 'string' && typeof sha256 === 'string';
    if (isOfStrings && Array.isArray(files) && files.every(isListed))
      return { conformance_version, sha256, files };
  } catch {
    // Reported below.
  }
  throw new VectorSetError(`${MANIFEST_PATH} is no manifest`);
};

const isListed = (file: Partial<Manifest['files'][number]>): boolean =>
  typeof file.path === 'string' && typeof file.sha256 === 'string';

interface EvaluateVector {
  readonly id: string;
  readonly description: string;
  readonly input: {
    readonly [member: string]: JsonValue;
    readonly relying_party: { readonly profile: string };
  };
  readonly expected: { readonly body: JsonValue; readonly receipt: string };
}

const evaluateCase = ({ id, description, input, expected }: EvaluateVector): ConformanceCase => ({
  id,
  description,
  op: 'evaluate',
  profile: input.relying_party.profile,
  input,
  expected: { body: expected.body },
  receipt: expected.receipt,
});

interface Listed<T> {
  readonly cases: readonly (T & { readonly description: string })[];
}

const plain = (op: CaseOp, id: string, description: string, input: JsonValue, expected: JsonValue) =>
  ({ id, description, op, profile: null, input, expected, receipt: null }) satisfies ConformanceCase;

const htuCases = ({ cases }: Listed<{ input: string; expected: string | null }>): ConformanceCase[] =>
  cases.map(({ description, input, expected }, i) =>
    plain('normalizeHtu', `htu.json#/cases/${i}`, description, input, expected),
  );

const jtiCases = ({ cases }: Listed<{ input: string; expected: boolean }>): ConformanceCase[] =>
  cases.map(({ description, input, expected }, i) =>
    plain('isJti', `jti.json#/cases/${i}`, description, input, expected),
  );

type JcsCase = { json: string; canonical: string | null; sha256: string | null };

/** Each canonical form is a case of two ops, canonicalising and hashing. */
const jcsCases = ({ cases }: Listed<JcsCase>): ConformanceCase[] =>
  cases.flatMap(({ description, json, canonical, sha256 }, i) => {
    const id = `jcs.json#/cases/${i}`;
    const found = plain('canonicalize', id, description, json, canonical);
    return canonical === null ? [found] : [found, plain('sha256', id, description, canonical, sha256)];
  });
