import { readFileSync } from 'node:fs';
import type { JsonValue } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import * as principal from '../../sdk-principal/src/wire.ts';
import { readDecisionStats } from '../../sdk-rp/src/statistics.ts';
import * as rp from '../../sdk-rp/src/wire.ts';
import { contractSchemas, type RECORDS, type Schema, wireTypesText } from '../scripts/wire-types.ts';
import * as core from '../src/records.ts';
import { readUsage } from '../src/usage.ts';

const schemas = contractSchemas();

const readers: Record<(typeof RECORDS)[number], (value: JsonValue, at: string) => unknown> = {
  Agent: principal.readAgent,
  AgentDisabled: principal.readAgentDisabled,
  ApiKeyIssued: core.readApiKeyIssued,
  ApiKeyList: core.readApiKeyList,
  ApiKeyRevoked: core.readApiKeyRevoked,
  Attestation: (value) => rp.readDecision({ receipt: {}, outcomes: [value] }).outcomes[0],
  AuditList: core.readAuditList,
  DecisionList: rp.readDecisionList,
  DecisionStats: readDecisionStats,
  GrantAllocation: principal.readGrantAllocation,
  GrantConsumption: principal.readGrantConsumption,
  GrantList: principal.readGrantList,
  KeyCompromised: principal.readKeyCompromised,
  KeyRetired: principal.readKeyRetired,
  Me: core.readMe,
  Principal: core.readPrincipal,
  PrincipalDirectory: core.readDirectory,
  RelyingParty: rp.readRelyingParty,
  RevokeResponse: principal.readRevokeResponse,
  Usage: readUsage,
};
const all = Object.entries(readers);
const schemaOf = (name: string): Sample => schemas[name] ?? {};

describe('the records of the client libraries', () => {
  it('are as the contract has them (refresh: pnpm --filter @svc/sdk-core generate)', () => {
    const committed = readFileSync(new URL('../src/wire.generated.ts', import.meta.url), 'utf8');
    expect(committed).toBe(wireTypesText(schemas));
  });

  it.each(all)('%s: the example of the reference is read as it is', (name, read) => {
    const { example } = schemaOf(name);
    for (const one of example === undefined ? samplesOf(schemaOf(name)) : [example]) {
      expect(read(one, name)).toEqual(one);
    }
  });

  // The parts of a status entry belong together, so any mixture of values is not one.
  const mixable = all.filter(([name]) => name !== 'GrantAllocation');
  it.each(mixable)(
    '%s: with all members and with the required ones alone, in every variant',
    (name, read) => {
      const samples = samplesOf(schemaOf(name));
      expect(samples.length).toBeGreaterThan(1);
      for (const one of samples) expect(read(one, name)).toEqual(one);
    },
  );

  it.each(all)('%s: members of a newer service are left out', (name, read) => {
    const one = whole(name);
    expect(read({ ...one, newer: { a: 1 } }, name)).toEqual(one);
  });

  it.each(all)('%s: without a required member, or with one of another type, is refused', (name, read) => {
    const one = whole(name);
    for (const member of schemaOf(name).required ?? []) {
      const { [member]: _, ...rest } = one;
      const refusal = { kind: 'bad-response', message: expect.stringContaining(`.${member} must be`) };
      expect(() => read(rest, name)).toThrow(expect.objectContaining(refusal));
      expect(() => read({ ...one, [member]: { newer: 1 } }, name)).toThrow(
        expect.objectContaining({ kind: 'bad-response' }),
      );
    }
  });
});

describe('types from schemas', () => {
  it('a schema that no rule covers is an error', () => {
    const odd = {
      type: 'object',
      properties: { a: { type: 'object', additionalProperties: false } },
    };
    expect(() => wireTypesText({ Odd: odd }, ['Odd'])).toThrow('no rule');
    expect(() => wireTypesText({}, ['Gone'])).toThrow('no record Gone');
  });

  it('descriptions become comments that end where they should', () => {
    const text = wireTypesText({ A: { type: 'string', description: 'x */ export' } }, ['A']);
    expect(text).toContain('/** x *\\/ export */\nexport type A = string;');
  });
});

interface Sample extends Schema {
  readonly example?: JsonValue;
  readonly format?: string;
}

const whole = (name: string) =>
  (schemaOf(name).example ?? samplesOf(schemaOf(name))[0]) as { [member: string]: JsonValue };

/** Values of a schema: each alternative, every object with all its members and with the required ones alone. */
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

/** One object for each value of the member that has most of them; the required members alone at the end. */
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
