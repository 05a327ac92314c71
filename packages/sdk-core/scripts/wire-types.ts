/**
 * The records that the client libraries read, as plain TypeScript, from the schemas of the API reference. A value
 * format that has a branded type in @svc/protocol keeps it. Anything that the few rules here do not cover is an error
 * and not a guess.
 */
import { formats } from '@svc/contract';
import { buildOpenApiDocument } from '@svc/contract/openapi';

/** What the libraries read; what these refer to follows by itself. */
export const RECORDS = [
  'Agent',
  'AgentDisabled',
  'ApiKeyIssued',
  'ApiKeyList',
  'ApiKeyRevoked',
  'Attestation',
  'AuditList',
  'DecisionList',
  'DecisionStats',
  'GrantAllocation',
  'GrantConsumption',
  'GrantList',
  'KeyCompromised',
  'KeyRetired',
  'Me',
  'Principal',
  'PrincipalDirectory',
  'RelyingParty',
  'RevokeResponse',
  'Usage',
] as const;

/** What callers hand to the libraries in the form of the wire. */
export const REQUESTS = ['OutcomeEvent'] as const;

/** As much of JSON Schema as the contract uses. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly pattern?: string;
  readonly description?: string;
}

const { apiKeyId, didKey, didWeb, grantId, orgId, receiptId, sha256 } = formats;
const BRANDED = {
  ApiKeyId: apiKeyId,
  DidKey: didKey,
  DidWeb: didWeb,
  GrantId: grantId,
  OrgId: orgId,
  ReceiptId: receiptId,
  Sha256: sha256,
};
const brandOf = new Map(
  Object.entries(BRANDED).map(([name, format]) => [format.toJSONSchema().pattern, name]),
);

/** The schemas of the reference, by record. */
export const contractSchemas = (): Readonly<Record<string, Schema>> =>
  (buildOpenApiDocument().components?.schemas ?? {}) as Record<string, Schema>;

/** The text of `src/wire.generated.ts`. */
export function wireTypesText(
  schemas: Readonly<Record<string, Schema>>,
  roots: readonly string[] = [...RECORDS, ...REQUESTS],
): string {
  const declarations = reachable(schemas, roots).map((name) => declarationOf(name, get(schemas, name)));
  const body = declarations.join('\n');
  const imported = [...Object.keys(BRANDED), 'JsonObject'].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(body),
  );
  const imports = `import type { ${imported.sort().join(', ')} } from '@svc/protocol';\n\n`;
  return `${HEADER}${imported.length === 0 ? '' : imports}${body}`;
}

const HEADER = `/** Generated from the contract by \`pnpm --filter @svc/sdk-core generate\`. Do not edit. */\n`;
const LINE_CHARS = 90;
const REFERENCE = '#/components/schemas/';

/** The roots and everything they refer to, in alphabetical order. */
function reachable(schemas: Readonly<Record<string, Schema>>, roots: readonly string[]): string[] {
  const found = new Set<string>(roots);
  for (const name of found) {
    const references = JSON.stringify(get(schemas, name)).matchAll(/"\$ref":"([^"]+)"/g);
    for (const [, reference = ''] of references) found.add(reference.slice(REFERENCE.length));
  }
  return [...found].sort();
}

function get(schemas: Readonly<Record<string, Schema>>, name: string): Schema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`the contract has no record ${name}`);
  return schema;
}

function declarationOf(name: string, schema: Schema): string {
  const type = typeOf(schema, '');
  const declaration =
    schema.properties === undefined ? `type ${name} =${spaced(type)};` : `interface ${name} ${type}`;
  return `${docOf(schema, '')}export ${declaration}\n`;
}

const docOf = ({ description }: Schema, indent: string): string =>
  description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n`;

function typeOf(schema: Schema, indent: string): string {
  const { $ref, allOf, anyOf, oneOf, type, enum: values, items, properties } = schema;
  const union = anyOf ?? oneOf;
  if ($ref !== undefined) return $ref.slice(REFERENCE.length);
  // How the reference says "that record, with a description of its own".
  if (allOf?.length === 1 && allOf[0] !== undefined) return typeOf(allOf[0], indent);
  if (union !== undefined) return unionOf((inner) => union.map((one) => typeOf(one, inner)), indent);
  if ('const' in schema) return literal(schema.const);
  if (values !== undefined) return unionOf(() => values.map(literal), indent);
  if (isList(type))
    return unionOf((inner) => type.map((one) => typeOf({ ...schema, type: one }, inner)), indent);
  if (type === 'string') return brandOf.get(schema.pattern) ?? 'string';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean' || type === 'null') return type;
  if (type === 'array' && items !== undefined) return arrayOf(typeOf(items, indent));
  if (type === 'object' && properties !== undefined) return objectOf(schema, properties, indent);
  if (type === 'object' && isOpen(schema)) return 'JsonObject';
  if (type === 'object' && typeof schema.additionalProperties === 'object')
    return `Record<string, ${typeOf(schema.additionalProperties, indent)}>`;
  throw new Error(`no rule for the schema ${JSON.stringify(schema)}`);
}

const isList = (type: Schema['type']): type is readonly string[] => Array.isArray(type);

/** On one line where there is room. */
function unionOf(typesAt: (indent: string) => readonly string[], indent: string): string {
  const line = [...new Set(typesAt(indent))].join(' | ');
  if (line.length <= LINE_CHARS && !line.includes('\n')) return line;
  return [...new Set(typesAt(`${indent}    `))].map((type) => `\n${indent}  | ${type}`).join('');
}

/** A union of many lines begins on one of its own. */
const spaced = (type: string): string => (type.startsWith('\n') ? type : ` ${type}`);

const arrayOf = (type: string): string => (/^\w+$|^{/.test(type) ? `${type}[]` : `(${type})[]`);

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'")}'` : `${value}`;

/** Any members of any kind. */
const isOpen = ({ additionalProperties: more }: Schema): boolean =>
  more === true || (typeof more === 'object' && Object.keys(more).length === 0);

function objectOf(schema: Schema, properties: Readonly<Record<string, Schema>>, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
    const mark = schema.required?.includes(name) ? '' : '?';
    return `${docOf(member, inner)}${inner}${key}${mark}:${spaced(typeOf(member, inner))};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}
