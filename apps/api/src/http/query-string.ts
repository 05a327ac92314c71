/**
 * Strict parsing of query strings: at most 64 parameters, well-formed escapes, no duplicate name, no control character.
 */
import { ApiError } from './api-error.ts';

/** Far more than any route has. The limit exists because the answer describes each unknown parameter. */
const MAX_PARAMETERS = 64;

export const parseQueryString = (text: string): Readonly<Record<string, string>> => {
  const query: Record<string, string> = Object.create(null);
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MAX_PARAMETERS)
    throw refused(`the query string has more than ${MAX_PARAMETERS} parameters`);
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name in query) throw refused(`query parameter ${JSON.stringify(name.slice(0, 64))} is given twice`);
    query[name] = decode(equals < 0 ? '' : pair.slice(equals + 1));
  }
  return query;
};

const refused = (message: string): ApiError => new ApiError('INVALID_REQUEST', message);

const decode = (text: string): string => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refused('the query string is not well percent-encoded');
  }
  if (/\p{Cc}/u.test(decoded)) throw refused('the query string holds a control character');
  return decoded;
};
