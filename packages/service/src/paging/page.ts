/** Opaque list cursors: the last id of a page, in base64url. What comes back is parsed again as an id, always. */
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '@svc/protocol';

const MAX_CURSOR_CHARS = 512;

export const encodeCursor = (lastId: string): string => encodeBase64url(encodeUtf8(lastId));

/** The id inside, or null when the text is no cursor. */
export const decodeCursor = (cursor: string): string | null => {
  if (cursor.length > MAX_CURSOR_CHARS) return null;
  const bytes = decodeBase64url(cursor);
  return bytes === null ? null : decodeUtf8(bytes);
};
