/**
 * Reading what the service answered into the records of the contract, without a schema library at run time. A
 * `record` names every member of its type, so a record that changes in the contract no longer compiles here. Members
 * that this version does not know are left out: a newer service may send more.
 */
import {
  type DidKey,
  type DidWeb,
  type GrantId,
  isGrantId,
  isJsonObject,
  isOrgId,
  type JsonObject,
  type JsonValue,
  type OrgId,
  parseDidKey,
  parseDidWeb,
} from '@svc/protocol';
import { SvcError } from './errors.ts';

/** The value as a `T`, or throws SvcError `bad-response`. `at` names the value. */
export interface Reader<T> {
  (value: JsonValue | undefined, at: string): T;
  /** Never set. Makes the type exact: a reader of fewer values than the record has is not one of its readers. */
  readonly exactly?: (value: T) => void;
}

export interface OptionalReader<T> {
  readonly optional: Reader<T>;
}

type Fields<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalReader<Exclude<T[K], undefined>>
    : Reader<T[K]>;
};

export const unexpected = (at: string, what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: ${at} must be ${what}`);

export function record<T extends object>(fields: Fields<T>): Reader<T> {
  const entries: [string, Reader<unknown> | OptionalReader<unknown>][] = Object.entries(fields);
  return (value, at) => {
    const members = jsonObject(value, at);
    const found: Record<string, unknown> = {};
    for (const [name, field] of entries) {
      const member = members[name];
      if (typeof field === 'function') found[name] = field(member, `${at}.${name}`);
      else if (member !== undefined) found[name] = field.optional(member, `${at}.${name}`);
    }
    // Every member of T has been read by its own reader.
    return found as T;
  };
}

/** Records of several kinds, told apart by the member `tag`. */
export const variants =
  <Tag extends string, T extends Record<Tag, string>>(
    tag: Tag,
    readers: { readonly [V in T[Tag]]: Reader<Extract<T, Record<Tag, V>>> },
  ): Reader<T> =>
  (value, at) => {
    const kind = jsonObject(value, at)[tag];
    const known = Object.keys(readers) as T[Tag][];
    const found = known.find((one) => one === kind);
    if (found === undefined) throw unexpected(`${at}.${tag}`, known.join(' or '));
    return readers[found](value, at);
  };

export const optional = <T>(reader: Reader<T>): OptionalReader<T> => ({ optional: reader });

export const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, at) =>
    value === null ? null : reader(value, at);

export const list =
  <T>(reader: Reader<T>): Reader<T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw unexpected(at, 'a list');
    return value.map((one, index) => reader(one, `${at}[${index}]`));
  };

/** An object of any names, each with a value of one kind. */
export const mapOf =
  <T>(reader: Reader<T>): Reader<Record<string, T>> =>
  (value, at) =>
    Object.fromEntries(
      Object.entries(jsonObject(value, at)).map(([name, one]) => [name, reader(one, `${at}.${name}`)]),
    );

export const oneOf =
  <const T extends JsonValue>(...values: readonly T[]): Reader<T> =>
  (value, at) => {
    const found = values.find((one) => one === value);
    if (found === undefined) throw unexpected(at, values.join(' or '));
    return found;
  };

/** A reader of the values that a check knows, named `what` in errors. */
export const checked =
  <T extends JsonValue>(what: string, isT: (value: JsonValue | undefined) => value is T): Reader<T> =>
  (value, at) => {
    if (!isT(value)) throw unexpected(at, what);
    return value;
  };

export const text = checked('text', (value): value is string => typeof value === 'string');
export const flag = checked('true or false', (value): value is boolean => typeof value === 'boolean');
export const integer = checked('an integer', (value): value is number => Number.isSafeInteger(value));
export const jsonObject: Reader<JsonObject> = checked(
  'an object',
  (value): value is JsonObject => value !== undefined && isJsonObject(value),
);
export const timestamp = checked(
  'a UTC time stamp',
  (value): value is string =>
    typeof value === 'string' && value.endsWith('Z') && !Number.isNaN(Date.parse(value)),
);
export const grantId: Reader<GrantId> = checked('a Grant id', (value) => isGrantId(value));
export const orgId: Reader<OrgId> = checked('an org id', (value) => isOrgId(value));
export const didWeb: Reader<DidWeb> = checked('a did:web DID', (value) => isDidWeb(value));
export const didKey: Reader<DidKey> = checked('a did:key DID', (value) => isDidKey(value));

export const isDidWeb = (value: unknown): value is DidWeb =>
  typeof value === 'string' && parseDidWeb(value)?.did === value;

export const isDidKey = (value: unknown): value is DidKey =>
  typeof value === 'string' && parseDidKey(value)?.did === value;
