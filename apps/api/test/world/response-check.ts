/**
 * Checks a response against what its route declares. The API's tests call it for every response, so an undeclared
 * status, an extra member or a wrong content type fails the test that received it.
 */
import { ERROR_STATUS, type ErrorCode, errorBody, type Route } from '@svc/contract';

type StreamResponse = Extract<Route['responses'][number], { readonly kind: 'stream' }>;

interface SeenResponse {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const mediaType = (contentType: string): string => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** `application/*+json` stands for every type with that suffix (RFC 6839). */
const isOfType = (seen: string, declared: string): boolean =>
  declared === seen || (declared.includes('/*+') && seen.endsWith(declared.slice(declared.indexOf('+'))));

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What is wrong with a response, or null. Any route may answer any error with the Error body. */
export const findResponseProblem = (route: Route, seen: SeenResponse): string | null => {
  const declared = route.responses[seen.status];
  const where = `${route.method.toUpperCase()} ${route.path} ${seen.status}`;
  if (declared === undefined || (seen.status >= 400 && isErrorBody(seen)))
    return findErrorProblem(where, seen);
  if (declared.kind === 'empty')
    return seen.text === '' && seen.contentType === '' ? null : `${where}: it has a body, or a content type`;
  if (declared.kind === 'stream') return findStreamProblem(where, declared, seen);
  if (declared.kind === 'raw') {
    if (!declared.contentTypes.some((type) => isOfType(mediaType(seen.contentType), type)))
      return `${where}: content type ${seen.contentType} is not declared`;
    if (declared.schema === undefined) return null;
  } else if (mediaType(seen.contentType) !== 'application/json') {
    return `${where}: content type ${seen.contentType} is not application/json`;
  }
  const result = declared.schema?.safeParse(parseJson(seen.text));
  return result?.success === false ? `${where}: ${result.error.message}` : null;
};

const findStreamProblem = (where: string, declared: StreamResponse, seen: SeenResponse): string | null => {
  const type = declared.contentTypes.find((one) => mediaType(one) === mediaType(seen.contentType));
  if (type === undefined) return `${where}: content type ${seen.contentType} is not declared`;
  const schema = declared.lineSchemas?.[type];
  if (schema === undefined || seen.text === '') return null;
  const lines = seen.text.split('\n');
  if (lines.pop() !== '') return `${where}: the last line does not end`;
  for (const [index, line] of lines.entries()) {
    const { success, error } = schema.safeParse(parseJson(line));
    if (!success) return `${where}: line ${index + 1}: ${error.message}`;
  }
  return null;
};

const isErrorBody = (seen: SeenResponse): boolean => errorBody.safeParse(parseJson(seen.text)).success;

const findErrorProblem = (where: string, seen: SeenResponse): string | null => {
  if (mediaType(seen.contentType) !== 'application/json') return `${where}: undeclared, and not an Error`;
  const result = errorBody.safeParse(parseJson(seen.text));
  if (!result.success) return `${where}: undeclared, and not an Error: ${result.error.message}`;
  const code: ErrorCode = result.data.error;
  return ERROR_STATUS[code] === seen.status
    ? null
    : `${where}: ${code} belongs to status ${ERROR_STATUS[code]}`;
};
