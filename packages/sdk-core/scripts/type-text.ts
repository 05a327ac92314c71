/**
 * Generates TypeScript declarations from schemas. A value format keeps its branded type of @svc/protocol. A schema that
 * the few rules here do not cover is an error, not a guess.
 */
import { alternativesOf, brandOf, isOpen, literal, nameOf, noRule, type Schema } from './schema.ts';

export function declarationOf(name: string, schema: Schema): string {
  const isRecord = schema.properties !== undefined;
  return `${docOf(schema)}export ${isRecord ? 'interface' : 'type'} ${name} ${isRecord ? '' : '= '}${typeOf(schema)}\n\n`;
}

const docOf = ({ description }: Schema): string =>
  description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */\n`;

function typeOf(schema: Schema): string {
  const { $ref, allOf, type, enum: values, items, properties, additionalProperties: more } = schema;
  const alternatives = alternativesOf(schema);
  if ($ref !== undefined) return nameOf($ref);
  // The API reference's form of "that record, with another description".
  if (allOf?.length === 1 && allOf[0] !== undefined) return typeOf(allOf[0]);
  if (alternatives !== null) return alternatives.map(typeOf).join(' | ');
  if (values !== undefined) return values.map(literal).join(' | ');
  if (type === 'string') return brandOf(schema) ?? 'string';
  if (type === 'integer') return 'number';
  if (type === 'boolean' || type === 'null') return type;
  if (type === 'array' && items !== undefined) return `(${typeOf(items)})[]`;
  if (type === 'object' && properties !== undefined) return objectOf(schema, properties);
  if (type === 'object' && isOpen(schema)) return 'JsonObject';
  if (type === 'object' && typeof more === 'object') return `Record<string, ${typeOf(more)}>`;
  throw noRule(schema);
}

function objectOf({ required }: Schema, properties: Readonly<Record<string, Schema>>): string {
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${docOf(member)}${literal(name)}${required?.includes(name) ? '' : '?'}: ${typeOf(member)};\n`,
  );
  return `{\n${members.join('')}}`;
}
