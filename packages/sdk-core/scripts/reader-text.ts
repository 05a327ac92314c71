/**
 * Generates readers from schemas: the source text of calls to the functions of `src/read.ts`. The form of ids and times
 * is checked. Other text is only checked to be text, because the service alone decides its form. A schema that the few
 * rules here do not cover is an error, not a guess.
 */
import { alternativesOf, brandOf, isOpen, literal, nameOf, noRule, type Schema } from './schema.ts';

/** A newer service may have more of these values, and its lists must stay readable. */
const EXTENSIBLE = ['AuditAction', 'DeliveredEventType', 'EventType', 'ReasonCode'];
/** A part of what the caller signs, so an answer with unknown members is refused. */
const CLOSED = ['CredentialStatus'];

export const declarationOf = (name: string, schema: Schema): string =>
  `export const read${name}: Reader<${name}> = ${namedReaderOf(name, schema)};\n\n`;

function namedReaderOf(name: string, schema: Schema): string {
  if (CLOSED.includes(name)) return call('closed', readerOf(schema));
  if (!EXTENSIBLE.includes(name)) return readerOf(schema);
  return nullableIf(schema.enum?.includes(null) ?? false, call('extensible'));
}

function readerOf(schema: Schema): string {
  const { $ref, allOf, type, enum: values, items, properties, additionalProperties: more } = schema;
  const alternatives = alternativesOf(schema);
  if ($ref !== undefined) return `read${nameOf($ref)}`;
  if (allOf?.length === 1 && allOf[0] !== undefined) return readerOf(allOf[0]);
  if (alternatives !== null) return unionOf(alternatives);
  if (values !== undefined) return nullableIf(values.includes(null), oneOf(values));
  if (type === 'string') return textOf(schema);
  if (type === 'integer') return 'integer';
  if (type === 'boolean') return 'flag';
  if (type === 'array' && items !== undefined) return call('list', readerOf(items));
  if (type === 'object' && properties !== undefined) return recordOf(schema, properties);
  if (type === 'object' && isOpen(schema)) return 'jsonObject';
  if (type === 'object' && typeof more === 'object') return call('mapOf', readerOf(more));
  throw noRule(schema);
}

/** Marked as free of side effects, so that a bundle contains only the readers that it uses. */
const call = (name: string, ...given: readonly string[]): string =>
  `/* @__PURE__ */ ${name}(${given.join(', ')})`;

const nullableIf = (isNullable: boolean, reader: string): string =>
  isNullable ? call('nullable', reader) : reader;

const oneOf = (values: readonly unknown[]): string =>
  call('oneOf', ...values.filter((value) => value !== null).map(literal));

function textOf(schema: Schema): string {
  const brand = brandOf(schema);
  if (brand !== undefined) return brand.charAt(0).toLowerCase() + brand.slice(1);
  return schema.format === 'date-time' ? 'timestamp' : 'text';
}

function unionOf(alternatives: readonly Schema[]): string {
  const present = alternatives.filter(({ type }) => type !== 'null');
  return nullableIf(present.length < alternatives.length, oneReaderOf(present));
}

function oneReaderOf(schemas: readonly Schema[]): string {
  const [first] = schemas;
  if (schemas.length === 1 && first !== undefined) return readerOf(first);
  const readers = schemas.map(checkedReaderOf);
  return readers.includes(null) ? variantsOf(schemas) : call('either', ...readers.map(String));
}

/** The reader of ids, booleans and single words; null for anything else. */
function checkedReaderOf(schema: Schema): string | null {
  if (brandOf(schema) !== undefined) return textOf(schema);
  if (schema.type === 'boolean') return 'flag';
  return schema.enum?.length === 1 ? call('word', ...schema.enum.map(literal)) : null;
}

/** Records that are distinguished by one member, which has a different value in each. */
function variantsOf(records: readonly Schema[]): string {
  const tag = ['kind', 'type'].find((name) => records.every((record) => wordOf(record, name) !== null));
  if (tag === undefined) throw noRule({ anyOf: records } as Schema);
  const variants = records.map((record) => `${literal(wordOf(record, tag))}: ${readerOf(record)}`);
  return call('variants', literal(tag), `{ ${variants.join(', ')} }`);
}

function wordOf({ properties }: Schema, name: string): string | null {
  const [word, ...more] = properties?.[name]?.enum ?? [];
  return typeof word === 'string' && more.length === 0 ? word : null;
}

function recordOf({ required }: Schema, properties: Readonly<Record<string, Schema>>): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const reader = readerOf(member);
    return `${literal(name)}: ${required?.includes(name) ? reader : call('optional', reader)}`;
  });
  return call('record', `{ ${members.join(', ')} }`);
}
