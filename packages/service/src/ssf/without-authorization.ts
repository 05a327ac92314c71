/** The parts of a header that are shorter are words such as `Bearer`, and no credentials. */
const MIN_SECRET_CHARS = 8;
const MARK = '[authorization]';

/**
 * The text, or `[authorization]` in place of all of it where it repeats the header or a part of it that is long enough
 * to be a credential. Nothing is replaced within the text: what that makes could be longer than the text by any factor,
 * and hold a part again.
 */
export const withoutAuthorization = (text: string, authorization: string): string =>
  secretsIn(authorization).some((secret) => text.includes(secret)) ? MARK : text;

const secretsIn = (authorization: string): readonly string[] =>
  [authorization, ...authorization.split(/[\s,;="]+/)].filter((part) => part.length >= MIN_SECRET_CHARS);
