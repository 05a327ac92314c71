/**
 * Request bodies: limited in size, UTF-8, strict JSON (protocol §1). The body is read as JSON whatever its Content-Type
 * says. A Content-Encoding is refused, because size limits apply to the bytes received.
 */
import type { IncomingMessage } from 'node:http';
import { PLACES, pathText } from '@svc/contract';
import { decodeUtf8, type JsonValue, parseStrictJson, type StrictJsonResult } from '@svc/protocol';
import { ApiError } from './api-error.ts';
import { ClientGone } from './client-gone.ts';
import type { Exchange } from './exchange.ts';
import { parseJsonEnvelope } from './json-envelope.ts';
import { jsonPathAt } from './json-path.ts';

export interface JsonBody {
  readonly text: string;
  readonly value: JsonValue;
}

/** Parses the text of a body. Throws INVALID_REQUEST. */
export type ReadJson = (text: string) => JsonValue;

export const readWith =
  (parse: (text: string) => StrictJsonResult): ReadJson =>
  (text) => {
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    const { problem, offset } = parsed;
    throw new ApiError(
      'INVALID_REQUEST',
      `The body is not strict JSON: ${problem}${placeText(text, offset)} at character ${offset}`,
    );
  };

export const readStrict: ReadJson = readWith(parseStrictJson);

const MAX_PATH_CHARS = 200;

const placeText = (text: string, offset: number): string => {
  const path = jsonPathAt(text, offset);
  return path.length === 0 ? '' : ` in ${PLACES.body.field(pathText(path)).slice(0, MAX_PATH_CHARS)}`;
};

export const readEnvelope: ReadJson = (text) => {
  const parsed = parseJsonEnvelope(text);
  if (parsed.ok) return parsed.value;
  throw new ApiError('INVALID_REQUEST', `The body is not a JSON object of this request: ${parsed.problem}`);
};

/** `mayBeEmpty`: an empty body counts as an object without members. */
export const readJsonBody = async (
  exchange: Exchange,
  maxBytes: number,
  read: ReadJson,
  mayBeEmpty: boolean,
): Promise<JsonBody> => {
  const { request, response } = exchange;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ApiError('INVALID_REQUEST', 'Content-Encoding is not accepted; send the body as it is');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (exchange.expectsContinue) response.writeContinue();
  const text = decodeUtf8(await readBytes(request, maxBytes));
  if (text === null) throw new ApiError('INVALID_REQUEST', 'The body is not valid UTF-8');
  if (text === '' && mayBeEmpty) return { text, value: {} };
  if (text === '') throw new ApiError('INVALID_REQUEST', 'The body is empty; send a JSON object');
  return { text, value: read(text) };
};

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes`);

/** Rejects with ClientGone when the connection ends first. Bytes beyond the limit are received and dropped. */
const readBytes = (request: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (settle: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else finish(() => reject(tooLarge(maxBytes)));
    };
    const onEnd = () =>
      finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onGone = () => finish(() => reject(new ClientGone()));
    // The events of a client that left while its key was looked up are over.
    if (request.destroyed) return reject(new ClientGone());
    // An error may occur after this function has removed its listeners; without any listener it would end the process.
    request.on('error', () => undefined);
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
