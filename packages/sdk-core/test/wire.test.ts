import { readFileSync } from 'node:fs';
import type { JsonValue } from '@svc/codec';
import { describe, expect, it } from 'vitest';
import { contractSchemas, type Schema } from '../scripts/schema.ts';
import { RECORDS, readersText, typesText } from '../scripts/wire-text.ts';
import * as readers from '../src/readers.generated.ts';

const schemas = contractSchemas();

type Read = (value: JsonValue, at: string) => unknown;
const byName: Readonly<Record<string, unknown>> = { ...readers };
const all = RECORDS.map((name): [string, Read] => [name, byName[`read${name}`] as Read]);
const schemaOf = (name: string): Sample => schemas[name] ?? {};

describe('the records of the client libraries', () => {
  it.each([
    ['types', 'wire.generated.ts', typesText],
    ['readers', 'readers.generated.ts', readersText],
  ])('%s match the contract (refresh: npm run --prefix packages/sdk-core generate)', (_, file, text) => {
    expect(readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')).toBe(text(schemas));
  });

  it.each(all)('%s: the example of the reference is read unchanged', (name, read) => {
    const { example } = schemaOf(name);
    for (const one of example === undefined ? samplesOf(schemaOf(name)) : [example]) {
      expect(read(one, name)).toEqual(one);
    }
  });

  it.each(all)(
    '%s: every variant is read, with all members and with only the required ones',
    (name, read) => {
      const samples = samplesOf(schemaOf(name));
      expect(samples.length).toBeGreaterThan(1);
      for (const one of samples) expect(read(one, name)).toEqual(one);
    },
  );

  it.each(all)('%s: members of a newer service are dropped', (name, read) => {
    const one = whole(name);
    expect(read({ ...one, newer: { a: 1 } }, name)).toEqual(one);
  });

  it.each(all)(
    '%s: a record without a required member, or with one of another type, is refused',
    (name, read) => {
      const one = whole(name);
      for (const member of schemaOf(name).required ?? []) {
        const { [member]: _, ...rest } = one;
        const refusal = { kind: 'bad-response', message: expect.stringContaining(`.${member} must be`) };
        expect(() => read(rest, name)).toThrow(expect.objectContaining(refusal));
        expect(() => read({ ...one, [member]: [{ newer: 1 }] }, name)).toThrow(
          expect.objectContaining({ kind: 'bad-response' }),
        );
      }
    },
  );
});

describe('a reader', () => {
  const { example } = schemaOf('RevokeResponse');
  const revokedAt = (revoked_at: JsonValue) => () =>
    readers.readRevokeResponse({ ...(example as object), revoked_at }, 'it');

  it.each(['2026-11-20T08:00:00Z', '2026-11-20T08:00:00.5Z', '2028-02-29T23:59:59.123456789Z'])(
    'accepts the time %s unchanged',
    (time) => expect(revokedAt(time)()).toMatchObject({ revoked_at: time }),
  );

  it.each([
    '2026-02-30T08:00:00Z',
    '2026-02-29T08:00:00.000Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T08:00:00+01:00',
    '2026-11-20T08:00:00.Z',
    '20 November 2026 08:00:00Z',
    1_800_000_000,
  ])('refuses %s as a time', (time) =>
    expect(revokedAt(time)).toThrow('it.revoked_at must be a UTC time stamp'),
  );

  it('refuses a status entry with an unknown member, because it will be signed', () => {
    const allocation = whole('GrantAllocation');
    const credentialStatus = { ...(allocation.credentialStatus as object), newer: 1 };
    expect(() => readers.readGrantAllocation({ ...allocation, credentialStatus }, 'it')).toThrow(
      'it.credentialStatus must be without members that are not of the interface',
    );
  });

  it('accepts a reason and an audited action of a newer service', () => {
    const summary = (whole('DecisionList').decisions as JsonValue[])[0] as object;
    const decisions = [{ ...summary, reason: 'NEWER' }];
    expect(readers.readDecisionList({ decisions, next_cursor: null }, 'it').decisions).toEqual(decisions);
    const event = (whole('AuditList').events as JsonValue[])[0] as object;
    const events = [{ ...event, action: 'newer.act' }];
    expect(readers.readAuditList({ events, next_cursor: null }, 'it').events).toEqual(events);
  });
});

describe('generation from schemas', () => {
  const record = (member: Schema) => ({ Odd: { type: 'object', properties: { kind: member } } });

  it.each<[string, Schema]>([
    ['an object without properties', { type: 'object', additionalProperties: false }],
    ['a number with a fraction', { type: 'number' }],
    ['an unknown type', { type: 'date' }],
  ])('refuses %s, since no rule covers it', (_, member) => {
    expect(() => typesText(record(member), ['Odd'])).toThrow('no rule');
    expect(() => readersText(record(member), ['Odd'])).toThrow('no rule');
  });

  it('refuses alternatives that a reader cannot tell apart', () => {
    const text = { type: 'string' };
    expect(() => readersText(record({ anyOf: [text, { type: 'integer' }] }), ['Odd'])).toThrow('no rule');
    const twoKinds = record({ type: 'string', enum: ['a', 'b'] }).Odd;
    expect(() => readersText({ Odd: { oneOf: [twoKinds, twoKinds] } }, ['Odd'])).toThrow('no rule');
  });

  it('refuses a record that does not exist or that contains itself', () => {
    expect(() => typesText({}, ['Gone'])).toThrow('no record Gone');
    const Loop = { type: 'array', items: { $ref: '#/components/schemas/Loop' } };
    expect(() => readersText({ Loop }, ['Loop'])).toThrow('Loop contains itself');
  });

  it('escapes the end of a comment in a description', () => {
    const text = typesText({ A: { type: 'string', description: 'x */ export' } }, ['A']);
    expect(text).toContain('/** x *\\/ export */\nexport type A = string;');
  });
});

interface Sample extends Schema {
  readonly example?: JsonValue;
}

const whole = (name: string) =>
  (schemaOf(name).example ?? samplesOf(schemaOf(name))[0]) as { [member: string]: JsonValue };

/** Values of a schema: each alternative, and every object with all its members and with only the required ones. */
function samplesOf(schema: Sample): JsonValue[] {
  const { $ref, allOf, anyOf, oneOf, type, enum: values } = schema;
  if ($ref !== undefined) return samplesOf(schemaOf($ref.slice('#/components/schemas/'.length)));
  const alternatives = anyOf ?? oneOf ?? allOf;
  if (alternatives !== undefined) return alternatives.flatMap((one) => samplesOf(one));
  if (values !== undefined) return [...values] as JsonValue[];
  if (Array.isArray(type)) return type.flatMap((one) => samplesOf({ ...schema, type: one }));
  if (type === 'object') return objectsOf(schema);
  if (type === 'array') return [samplesOf(schema.items ?? {}), []];
  if (type === 'string') return [schema.example ?? stringOf(schema)];
  const plain = { integer: 1, number: 1, boolean: true, null: null }[String(type)];
  if (plain === undefined) throw new Error(`no sample of ${JSON.stringify(schema)}`);
  return [plain];
}

function stringOf({ format, pattern = '' }: Sample): string {
  if (format === 'uri') return 'https://svc.example/x';
  if (pattern.startsWith('^did:')) return 'did:web:svc.example:org:acme#key-1';
  return 'text';
}

/** One object for each value of the member with the most values; at the end one with only the required members. */
function objectsOf({ properties = {}, required = [], additionalProperties }: Sample): JsonValue[] {
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    return [
      Object.fromEntries(samplesOf(additionalProperties).map((one, index) => [`name-${index}`, one])),
      {},
    ];
  const members = Object.entries(properties).map(([name, member]) => [name, samplesOf(member)] as const);
  const rounds = Math.max(1, ...members.map(([, samples]) => samples.length));
  const object = (round: number, names: readonly (readonly [string, JsonValue[]])[]) =>
    Object.fromEntries(names.map(([name, samples]) => [name, samples[round % samples.length] ?? null]));
  const needed = members.filter(([name]) => required.includes(name));
  return [...Array.from({ length: rounds }, (_, round) => object(round, members)), object(0, needed)];
}
