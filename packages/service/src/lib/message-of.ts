/**
 * The message of an error, for a log or an operator. Where it is empty: the messages of an AggregateError's errors,
 * which Node throws for a host with several addresses; else the error's code or name.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return describeThrown(error);
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ');
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
};

/** Describes a thrown value that is not an error. Only strings are shown. */
export const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`;
