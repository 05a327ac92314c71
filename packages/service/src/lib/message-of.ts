/**
 * What an error says, for a log or an operator; where it says nothing, what the errors of an AggregateError say, which is
 * what Node throws for a host with several addresses, or the code.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return describeThrown(error);
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ');
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
};

/** Anything can be thrown; of non-errors only strings are shown. */
export const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`;
