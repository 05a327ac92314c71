/** Checks the document as readers' tools use it: every example and every pattern, with JSON Schema alone. */
import {
  encodeBase64url,
  encodeUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jcs,
} from '@svc/protocol';
import { parseReceipt } from '@svc/receipts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { exampleReceipt } from '../examples.ts';
import { buildOpenApiDocument } from './document.ts';

const document = JSON.parse(JSON.stringify(buildOpenApiDocument())) as JsonObject;

interface Shown {
  /** JSON pointer to the schema. */
  readonly schema: string;
  readonly example: JsonValue;
}

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Every `example` with its schema: the schema that contains it, or the `schema` of a parameter or body. */
const listExamples = (node: JsonValue | undefined, at: string): readonly Shown[] => {
  if (Array.isArray(node)) return node.flatMap((item, index) => listExamples(item, `${at}/${index}`));
  if (!isJsonObject(node)) return [];
  const { example, ...rest } = node;
  const schema = rest.schema === undefined ? at : `${at}/schema`;
  return [
    ...(example === undefined ? [] : [{ schema, example }]),
    ...Object.entries(rest).flatMap(([name, inner]) => listExamples(inner, `${at}/${escaped(name)}`)),
  ];
};

const examples = listExamples(document, '#');
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, 'document');

const problemsOf = ({ schema, example }: Shown) => {
  const validate = ajv.compile({ $ref: `document${encodeURI(schema)}` });
  return validate(example) ? [] : validate.errors;
};

type Responses = Record<number, { content: Record<string, { schema: object }> }>;

describe('the reference', () => {
  it('has more than 100 examples', () => expect(examples.length).toBeGreaterThan(100));

  it.each(examples.map((shown) => [shown.schema, shown] as const))(
    'has a matching example for %s',
    (_, shown) => {
      expect(problemsOf(shown)).toEqual([]);
    },
  );

  it('does not accept wrong examples', () => {
    const receipt = '#/components/schemas/Receipt';
    expect(problemsOf({ schema: receipt, example: { ...exampleReceipt, reason: 'BECAUSE' } })).not.toEqual(
      [],
    );
    const name = '#/components/schemas/ManagedRelyingPartyRequest/properties/name';
    for (const [example, right] of [
      ['Shop', true],
      ['Köln 🛒', true],
      ['a\nb', false],
      ['', false],
    ] as const)
      expect([example, problemsOf({ schema: name, example })?.length === 0]).toEqual([example, right]);
  });

  it('requires items or one request in an AuthZEN batch', () => {
    const batch = '#/components/schemas/AuthZenBatchRequest';
    const one = examples.find(({ schema }) => schema === '#/components/schemas/AuthZenRequest')
      ?.example as JsonObject;
    for (const [example, right] of [
      [one, true],
      [{ evaluations: [{}] }, true],
      [{ ...one, evaluations: [] }, true],
      [{ evaluations: [] }, false],
      [{ ...one, subject: undefined }, false],
      [{}, false],
    ] as const)
      expect([
        example,
        problemsOf({ schema: batch, example: JSON.parse(JSON.stringify(example)) as JsonObject })?.length ===
          0,
      ]).toEqual([example, right]);
  });

  it('types evidence: JSON as an object, a status list as text, other bytes as binary', () => {
    const { paths } = document as unknown as {
      paths: Record<string, Record<string, { responses: Responses }>>;
    };
    const content = paths['/evidence/{hash}']?.get?.responses[200]?.content ?? {};
    const schemas = Object.entries(content).map(([type, { schema }]) => [type, schema] as const);
    expect(Object.fromEntries(schemas)).toEqual({
      'application/json': { type: 'object' },
      'application/did+json': { type: 'object' },
      'application/did+ld+json': { type: 'object' },
      'application/ld+json': { type: 'object' },
      'application/*+json': { type: 'object' },
      'application/vc+jwt': { type: 'string' },
      'application/octet-stream': { contentMediaType: 'application/octet-stream' },
    });
  });

  it('accepts both types of Action, refuses a mixed one, and accepts null for a DID document', () => {
    const action = '#/components/schemas/VerifyRequest/properties/action';
    const call = { type: 'api:call', method: 'GET', resource: 'https://api.shop.example/v1' };
    expect(problemsOf({ schema: action, example: call })).toEqual([]);
    expect(problemsOf({ schema: action, example: { ...call, amount: 1 } })).not.toEqual([]);
    const didDocument = '#/components/schemas/PrincipalDirectoryEntry/properties/did_document';
    expect(problemsOf({ schema: didDocument, example: null })).toEqual([]);
  });

  it('has an example Receipt that agrees with itself', () => {
    const { receipt: _, ...body } = exampleReceipt;
    const part = (text: string) => encodeBase64url(encodeUtf8(text));
    const header = '{"alg":"EdDSA","kid":"did:web:svc.example#receipt-1","typ":"svc-receipt+jwt"}';
    const jws = `${part(header)}.${part(jcs(body as unknown as JsonObject))}.${part('s'.repeat(64))}`;
    expect(parseReceipt({ ...body, receipt: jws })).toMatchObject({ ok: true });
  });
});

/** Every schema with a pattern. */
const listPatterns = (node: JsonValue | undefined): readonly JsonObject[] => {
  if (Array.isArray(node)) return node.flatMap(listPatterns);
  if (!isJsonObject(node)) return [];
  const own = typeof node.pattern === 'string' ? [node] : [];
  return [...own, ...Object.values(node).flatMap(listPatterns)];
};

describe('the patterns of the reference', () => {
  const patterns = new Map(listPatterns(document).map((schema) => [String(schema.pattern), schema]));
  it.each([...patterns])('%s need no flag and match their example', (pattern, { example }) => {
    const compiled = new RegExp(pattern, 'u');
    expect(pattern).not.toMatch(/^\/|\\p\{/);
    expect(pattern.startsWith('^')).toBe(true);
    if (example !== undefined) expect(String(example)).toMatch(compiled);
  });
});
