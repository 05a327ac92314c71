/**
 * The manifest of a cold day: a compact JWS by a status key with exactly the header
 * `{"alg":"EdDSA","kid":"<iss>#status-<n>","typ":"svc-cold-day+jwt"}`, over the RFC 8785 form of its payload. All data
 * that is read from an object must match a hash in the manifest.
 */
import {
  type CryptoPort,
  isSha256,
  type JsonObject,
  parseCompactJws,
  type Sha256,
  type Signer,
  signCompactJws,
} from '@svc/protocol';
import { dayOfReceipt, isDay, readServiceJws, type ServiceKeys } from '@svc/transparency';
import { SCHEMA_VERSION, TABLE_NAMES, type TableName } from './schema.ts';

const MANIFEST_TYP = 'svc-cold-day+jwt';
/** A row group takes 200 characters: room for some hundred million Receipts. */
const MAX_CHARS = 16_777_216;

/** A row group. Its bytes follow those of the group before; the first group starts at the beginning of the file. */
export interface RowGroupEntry {
  readonly bytes: number;
  /** The receipt id of its first row. */
  readonly first: string;
  readonly rows: number;
  /** Hex. */
  readonly sha256: string;
}

export interface ObjectEntry {
  /** Name in the store, which ends with the SHA-256 of the whole object. */
  readonly name: string;
  readonly bytes: number;
  readonly rows: number;
  /** The receipt ids of its first and its last row. */
  readonly first: string;
  readonly last: string;
  readonly groups: readonly RowGroupEntry[];
  /** SHA-256 of the part after the groups: indexes and metadata. */
  readonly tail_sha256: string;
}

export interface ColdDay {
  /** The service's did:web DID. */
  readonly iss: string;
  readonly day: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly schema: typeof SCHEMA_VERSION;
  /** `tree_size` and `root` of the day's checkpoint. */
  readonly tree_size: number;
  readonly root: Sha256;
  /** Root over the hash of each Receipt's JWS. */
  readonly content_root: Sha256;
  /** Hash of the checkpoint's compact JWS. */
  readonly checkpoint_hash: Sha256;
  /** Hash of the manifest that this one replaces; null for the first. */
  readonly replaces: Sha256 | null;
  readonly tables: Readonly<Record<TableName, readonly ObjectEntry[]>>;
}

/**
 * Throws RangeError for a day that readers would refuse, which is a fault of the caller. Rejects with the signer's
 * errors.
 */
export const signColdDay = async (day: ColdDay, signer: Signer): Promise<string> => {
  const payload = day as unknown as JsonObject;
  const problem = findProblem(payload);
  if (problem !== null) throw new RangeError(`not the manifest of a day: ${problem}`);
  return signCompactJws(signer, { typ: MANIFEST_TYP }, payload);
};

/**
 * The day if a key of the service has signed the manifest, or what is wrong. Never throws. `keys`: the keys under each
 * DID that the service has or had; those of the manifest's own DID are used. A key that has ended or was compromised is
 * accepted too: Receipts are proven by the published roots, whoever signed the manifest.
 */
export const verifyColdDay = (
  text: string,
  keys: readonly ServiceKeys[],
  crypto: CryptoPort,
): { readonly ok: true; readonly day: ColdDay } | { readonly ok: false; readonly problem: string } => {
  const refuse = (problem: string) => ({ ok: false as const, problem });
  const jws = readServiceJws(text, MANIFEST_TYP, MAX_CHARS);
  if (!jws.ok) return refuse(`a manifest must be a compact JWS: ${jws.problem}`);
  const { kid, payload } = jws;
  if (kid === null || !jws.isPayloadCanonical)
    return refuse('header or payload are not as a manifest has them');
  const problem = findProblem(payload);
  if (problem !== null) return refuse(problem);
  const day = payload as unknown as ColdDay;
  const own = keys.find(({ did }) => did === day.iss);
  if (own === undefined)
    return refuse(`it is of ${day.iss}, not of ${keys.map(({ did }) => did).join(' or ')}`);
  const wrong = own.check('status', { ...jws, kid, signedAtMs: null }, crypto);
  return wrong === null ? { ok: true, day } : refuse(wrong.message);
};

/** Parses a manifest, whoever signed it. Throws if the text is no manifest. */
export const parseColdDay = (text: string): ColdDay => {
  const jws = parseCompactJws(text, MAX_CHARS);
  const problem = jws.ok ? findProblem(jws.payload) : jws.problem;
  if (!jws.ok || problem !== null) throw new Error(`not the manifest of a day: ${problem}`);
  return jws.payload as unknown as ColdDay;
};

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isHex: Test = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const arrayOf =
  (is: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(is);
/** An object with exactly these members. */
const objectOf =
  (members: Readonly<Record<string, Test>>): Test =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === Object.keys(members).length &&
    Object.entries(members).every(([name, is]) => is((value as Readonly<Record<string, unknown>>)[name]));

const isObjectEntry = objectOf({
  ...{ name: isText, bytes: isCount, rows: isCount, first: isText, last: isText, tail_sha256: isHex },
  groups: arrayOf(objectOf({ bytes: isCount, first: isText, rows: isCount, sha256: isHex })),
});

const hasForm = objectOf({
  ...{
    iss: isText,
    day: isDay,
    iat: isCount,
    schema: (value) => value === SCHEMA_VERSION,
    tree_size: isCount,
  },
  ...{ root: isSha256, content_root: isSha256, checkpoint_hash: isSha256 },
  replaces: (value) => value === null || isSha256(value),
  tables: objectOf(Object.fromEntries(TABLE_NAMES.map((name) => [name, arrayOf(isObjectEntry)]))),
});

/** Null: the manifest does not contradict itself. */
const findProblem = (payload: JsonObject): string | null => {
  if (!hasForm(payload)) return 'it does not have the members of a manifest';
  const { day, tables, tree_size: treeSize } = payload as unknown as ColdDay;
  for (const table of TABLE_NAMES) {
    const problem = findTableProblem(tables[table], day, table === 'receipts');
    if (problem !== null) return `${table}: ${problem}`;
  }
  const rows = tables.receipts.reduce((sum, object) => sum + object.rows, 0);
  return rows === treeSize ? null : `${rows} Receipts, but the day has ${treeSize}`;
};

const findTableProblem = (objects: readonly ObjectEntry[], day: string, isUnique: boolean): string | null => {
  const isBehind = (id: string, before: string) => id > before || (id === before && !isUnique);
  let last = '';
  for (const object of objects) {
    const { name, groups, bytes, rows } = object;
    const sum = (of: (group: RowGroupEntry) => number) => groups.reduce((all, group) => all + of(group), 0);
    if (groups.length === 0 || sum((group) => group.rows) !== rows || sum((group) => group.bytes) >= bytes)
      return `the groups of ${name} are not all of it`;
    if (groups.some((group) => group.rows === 0 || group.bytes === 0)) return `${name} has an empty group`;
    const ids = [...groups.map(({ first }) => first), object.last];
    if (groups[0]?.first !== object.first || ids.some((id) => dayOfReceipt(id) !== day))
      return `${name} has ids of another day`;
    for (const [i, id] of ids.entries()) {
      // A group of one row begins with the id that it ends with.
      const isEnd = i === ids.length - 1;
      if (!(isBehind(id, last) || (isEnd && id === last))) return `${name} is out of order`;
      last = id;
    }
  }
  return null;
};
