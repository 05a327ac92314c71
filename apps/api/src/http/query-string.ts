/** Query strings, strictly: well-formed escapes, no name twice, no control character. */
import { ApiError } from './api-error.ts';

export const parseQueryString = (text: string): Readonly<Record<string, string>> => {
  const query: Record<string, string> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
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
