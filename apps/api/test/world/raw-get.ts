/** A GET that returns the bytes of the answer unchanged; `fetch` would ask for content codings and decode them. */
import { get, type IncomingHttpHeaders } from 'node:http';

export const rawGet = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
    }).on('error', reject);
  });
