/** The example of a 400 for each operation: the message that the service really returns for one wrong request. */
import { z } from 'zod';
import { describeProblems, PLACES } from '../describe-issues.ts';
import type { Route } from '../route.ts';
import { asSentence } from '../sentence.ts';

export interface BadRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request with one fault: a missing member, a limit out of range, or an unknown parameter. */
export const badRequestOf = ({ body, query }: Route): BadRequest => {
  if (body !== undefined) return { body: spoil(body) };
  return { query: query?.shape.limit === undefined ? { page: '2' } : { limit: '0' } };
};

export const badRequestMessage = (route: Route): string => {
  const { body, query } = badRequestOf(route);
  const problems =
    route.body === undefined
      ? describeProblems(route.query ?? z.strictObject({}), query, PLACES.query)
      : describeProblems(route.body, body, PLACES.body);
  return asSentence(problems);
};

const spoil = (schema: z.ZodType): object => {
  const example = exampleOf(schema);
  for (const left of Object.keys(example)) {
    const rest = Object.fromEntries(Object.entries(example).filter(([name]) => name !== left));
    if (!schema.safeParse(rest).success) return rest;
  }
  return { ...example, comment: '' };
};

const exampleOf = (schema: z.ZodType): object => {
  const described = schema instanceof z.ZodDiscriminatedUnion ? schema.options[0] : schema;
  const example: unknown = described instanceof z.ZodType ? described.meta()?.example : undefined;
  return typeof example === 'object' && example !== null ? example : {};
};
