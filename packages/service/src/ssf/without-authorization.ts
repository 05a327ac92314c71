/** Shorter parts of a header are words such as `Bearer`, not credentials. */
const MIN_SECRET_CHARS = 8;
const MARK = '[authorization]';

/**
 * The text; or only `[authorization]` when the text repeats the header, or a part of it that is long enough to be a
 * credential. The whole text is replaced: replacing parts within it could make it longer by any factor, and could
 * create another such part.
 */
export const withoutAuthorization = (text: string, authorization: string): string =>
  secretsIn(authorization).some((secret) => text.includes(secret)) ? MARK : text;

const secretsIn = (authorization: string): readonly string[] =>
  [authorization, ...authorization.split(/[\s,;="]+/)].filter((part) => part.length >= MIN_SECRET_CHARS);
