/**
 * The parts of the generated readers, which turn the service's answers into the contract's records without a schema
 * library at run time. Readers leave out members that this version does not know, because a newer service may send
 * more. The transport and the strict JSON parser have already limited an answer's size and depth.
 */
import {
  type DidKey,
  type DidWeb,
  isJsonObject,
  isSha256,
  type JsonValue,
  parseAnyUtcTime,
  parseDidKey,
  parseDidWeb,
  type Sha256,
} from '@svc/codec';
import {
  type ApiKeyId,
  type GrantId,
  isApiKeyId,
  isGrantId,
  isOrgId,
  isReceiptId,
  type OrgId,
  type ReceiptId,
} from '@svc/protocol';
import { SvcError } from './errors.ts';

/** The value as a `T`, or throws SvcError `bad-response`. `at` names the value. */
export interface Reader<T> {
  (value: JsonValue | undefined, at: string): T;
  /** Never set. Makes the type exact: a reader that accepts fewer values than the record has is not a reader of it. */
  readonly exactly?: (value: T) => void;
}

export interface OptionalReader<T> {
  readonly optional: Reader<T>;
}

type AnyReader = (value: JsonValue | undefined, at: string) => unknown;
type Fields = Readonly<Record<string, AnyReader | { readonly optional: AnyReader }>>;
type OptionalNames<F> = { [K in keyof F]: F[K] extends AnyReader ? never : K }[keyof F];
type ReadBy<F> = F extends Reader<infer T> | OptionalReader<infer T> ? T : never;
/** The type of the record with these fields. */
type RecordOf<F> = { [K in Exclude<keyof F, OptionalNames<F>>]: ReadBy<F[K]> } & {
  [K in OptionalNames<F>]?: ReadBy<F[K]>;
};

export const unexpected = (at: string, what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: ${at} must be ${what}`);

export function record<const F extends Fields>(fields: F): Reader<RecordOf<F>> {
  const entries = Object.entries(fields);
  return (value, at) => {
    const members = jsonObject(value, at);
    const found: Record<string, unknown> = {};
    for (const [name, field] of entries) {
      const member = members[name];
      if (typeof field === 'function') found[name] = field(member, `${at}.${name}`);
      else if (member !== undefined) found[name] = field.optional(member, `${at}.${name}`);
    }
    // Every member has been read by its own reader.
    return found as RecordOf<F>;
  };
}

/** A record without other members. */
export function closed<T extends object>(reader: Reader<T>): Reader<T> {
  return (value, at) => {
    const found = reader(value, at);
    if (Object.keys(jsonObject(value, at)).length === Object.keys(found).length) return found;
    throw unexpected(at, 'without members that are not of the interface');
  };
}

/** Records of several kinds, told apart by the member `tag`. */
export function variants<R extends Readonly<Record<string, AnyReader>>>(
  tag: string,
  readers: R,
): Reader<ReadBy<R[keyof R]>> {
  return (value, at) => {
    const kind = jsonObject(value, at)[tag];
    const reader = typeof kind === 'string' && Object.hasOwn(readers, kind) ? readers[kind] : undefined;
    if (reader === undefined) throw unexpected(`${at}.${tag}`, Object.keys(readers).join(' or '));
    return reader(value, at) as ReadBy<R[keyof R]>;
  };
}

export function optional<T>(reader: Reader<T>): OptionalReader<T> {
  return { optional: reader };
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, at) => (value === null ? null : reader(value, at));
}

export function list<T>(reader: Reader<T>): Reader<T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw unexpected(at, 'a list');
    return value.map((one, index) => reader(one, `${at}[${index}]`));
  };
}

/** An object with any member names, whose values are all of one kind. */
export function mapOf<T>(reader: Reader<T>): Reader<Record<string, T>> {
  return (value, at) =>
    Object.fromEntries(
      Object.entries(jsonObject(value, at)).map(([name, one]) => [name, reader(one, `${at}.${name}`)]),
    );
}

export function oneOf<const T extends JsonValue>(...values: readonly T[]): Reader<T> {
  return (value, at) => {
    const found = values.find((one) => one === value);
    if (found === undefined) throw unexpected(at, values.join(' or '));
    return found;
  };
}

/** Accepts any text, because a newer service may extend the set. */
export function extensible<T extends string>(): Reader<T> {
  return checked('text', (value): value is T => typeof value === 'string');
}

/** A reader of the values that pass a check; errors call them `what`. */
export interface CheckedReader<T> extends Reader<T> {
  readonly what: string;
  readonly isMet: (value: unknown) => value is T;
}

/* @__NO_SIDE_EFFECTS__ */
export function checked<T>(what: string, isMet: (value: unknown) => value is T): CheckedReader<T> {
  const reader = (value: unknown, at: string): T => {
    if (!isMet(value)) throw unexpected(at, what);
    return value;
  };
  return Object.assign(reader, { what, isMet });
}

export function either<A, B>(a: CheckedReader<A>, b: CheckedReader<B>): CheckedReader<A | B> {
  return checked(`${a.what} or ${b.what}`, (value): value is A | B => a.isMet(value) || b.isMet(value));
}

const isText = (value: unknown): value is string => typeof value === 'string';

/* @__NO_SIDE_EFFECTS__ */
export const word = <const T extends string>(only: T) => checked(only, (value): value is T => value === only);

export const text = checked('text', isText);
export const flag = checked('true or false', (value): value is boolean => typeof value === 'boolean');
export const integer = checked('an integer', (value): value is number => Number.isSafeInteger(value));
export const jsonObject = checked('an object', isJsonObject);
/** With or without a fraction of a second, as it was reported to the service. The day and the time must exist. */
export const timestamp = checked(
  'a UTC time stamp',
  (value): value is string => isText(value) && parseAnyUtcTime(value) !== null,
);
export const apiKeyId = checked<ApiKeyId>('an API key id', isApiKeyId);
export const grantId = checked<GrantId>('a Grant id', isGrantId);
export const orgId = checked<OrgId>('an org id', isOrgId);
export const receiptId = checked<ReceiptId>('a Receipt id', isReceiptId);
export const sha256 = checked<Sha256>('sha256: and 64 hex characters', isSha256);
export const didWeb = checked(
  'a did:web DID',
  (value): value is DidWeb => isText(value) && parseDidWeb(value)?.did === value,
);
export const didKey = checked(
  'a did:key DID',
  (value): value is DidKey => isText(value) && parseDidKey(value)?.did === value,
);
