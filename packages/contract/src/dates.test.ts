import { expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from './routes.ts';

/** Every schema within a schema, by its path. */
const within = (schema: z.ZodType, path: string): readonly (readonly [string, z.ZodType])[] => {
  const inner = (): readonly (readonly [string, z.ZodType])[] => {
    if (schema instanceof z.ZodObject)
      return Object.entries(schema.shape).flatMap(([name, member]) =>
        within(member as z.ZodType, `${path}.${name}`),
      );
    if (schema instanceof z.ZodUnion)
      return schema.options.flatMap((option) => within(option as z.ZodType, path));
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
      return within(schema.unwrap() as z.ZodType, path);
    if (schema instanceof z.ZodArray) return within(schema.element as z.ZodType, `${path}[]`);
    return [];
  };
  return [[path, schema], ...inner()];
};

const requestSchemas = Object.entries(routes).flatMap(([id, route]) =>
  (['params', 'query', 'headers', 'body'] as const).flatMap((place) => {
    const schema = (route as { readonly [name: string]: unknown })[place];
    return schema instanceof z.ZodType ? within(schema, `${id} ${place}`) : [];
  }),
);

const takes = (schema: z.ZodType, text: string): boolean => schema.safeParse(text).success;
/** The schemas that accept a date but not any other text. */
const thatTake = (date: string): readonly (readonly [string, z.ZodType])[] =>
  requestSchemas.filter(([, schema]) => takes(schema, date) && !takes(schema, 'x'));

it.each([
  [
    'time',
    '2026-02-28T08:00:00Z',
    ['listDecisions query', 'listAudit query', 'getUsage query', 'putEntitlement body', 'reportOutcome body'],
  ],
  ['day', '2026-02-28', ['getCheckpoint params', 'getCheckpointLeaves params']],
] as const)('every %s in a request refuses one that does not exist', (_, date, places) => {
  const taking = thatTake(date);
  expect(taking.map(([path]) => path)).toEqual(
    expect.arrayContaining(places.map((place) => expect.stringContaining(place))),
  );
  const impossible = [
    '2026-02-30',
    '2026-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-02-28T24:00:00Z',
    '2026-02-28T08:60:00Z',
  ].map((day) => day + date.slice(day.length));
  for (const text of impossible)
    expect(taking.filter(([, schema]) => takes(schema, text)).map(([path]) => path)).toEqual([]);
});
