/** The schemas of the API reference from which the client libraries' types and readers are generated. */
import { formats } from '@svc/contract';
import { buildOpenApiDocument } from '@svc/contract/openapi';

/** The parts of JSON Schema that the contract uses. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly description?: string;
}

const REFERENCE = '#/components/schemas/';

export type Schemas = Readonly<Record<string, Schema>>;

/**
 * Schemas by record name. A Receipt is any JSON object here: @svc/receipts reads it, and trusts only what is signed in
 * it.
 */
export const contractSchemas = (): Schemas =>
  JSON.parse(JSON.stringify(buildOpenApiDocument().components?.schemas ?? {}), (_, value) =>
    value?.$ref === `${REFERENCE}Receipt` ? { type: 'object', additionalProperties: true } : value,
  );

export function get(schemas: Schemas, name: string): Schema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`the contract has no record ${name}`);
  return schema;
}

/** The roots and everything to which they refer, each after its own references. */
export function reachable(schemas: Schemas, roots: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new Error(`the record ${name} contains itself`);
    for (const other of referencesOf(get(schemas, name))) visit(other, [...path, name]);
    found.add(name);
  };
  for (const root of roots) visit(root, []);
  return [...found];
}

const referencesOf = (schema: Schema): string[] =>
  [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => nameOf(reference));

/** The record that a `$ref` points to. */
export const nameOf = (reference: string): string => reference.slice(REFERENCE.length);

const { apiKeyId, didKey, didWeb, grantId, orgId, receiptId, sha256 } = formats;
/** The value formats that have a branded type in @svc/protocol, by its name. */
const BRANDED = {
  ApiKeyId: apiKeyId,
  DidKey: didKey,
  DidWeb: didWeb,
  GrantId: grantId,
  OrgId: orgId,
  ReceiptId: receiptId,
  Sha256: sha256,
};
const brands = new Map(
  Object.entries(BRANDED).map(([name, format]) => [format.toJSONSchema().pattern, name]),
);

export const BRANDS: readonly string[] = Object.keys(BRANDED);
export const brandOf = ({ pattern }: Schema): string | undefined =>
  pattern === undefined ? undefined : brands.get(pattern);

/** The alternatives, if the schema has several. `null` is an alternative like any other. */
export function alternativesOf(schema: Schema): readonly Schema[] | null {
  const { anyOf, oneOf, type, enum: values } = schema;
  if (isList(type) && values === undefined) return type.map((one) => ({ ...schema, type: one }));
  return anyOf ?? oneOf ?? null;
}

const isList = (type: Schema['type']): type is readonly string[] => Array.isArray(type);

/** Whether the object may have any members of any kind. */
export const isOpen = ({ additionalProperties: more }: Schema): boolean =>
  more === true || (typeof more === 'object' && Object.keys(more).length === 0);

/** The value as source text. */
export const literal = (value: unknown): string => JSON.stringify(value);

export const noRule = (schema: Schema): Error =>
  new Error(`no rule for the schema ${JSON.stringify(schema)}`);
