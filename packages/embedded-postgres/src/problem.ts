import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const tailBytes = 4_096;
const tailLines = 15;

/** The embedded server could not be prepared, started or stopped. The message says why and shows the server's log. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(problem: string, output = '', cause?: unknown) {
    super(output === '' ? problem : `${problem}\n${indent(output)}`, cause === undefined ? {} : { cause });
  }
}

/** The last lines of a log file, or '' where there is none. */
export function lastLines(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const size = fstatSync(file).size;
    const buffer = Buffer.alloc(Math.min(size, tailBytes));
    const length = readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, length).trimEnd().split('\n').slice(-tailLines).join('\n');
  } finally {
    closeSync(file);
  }
}

const indent = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  | ${line}`)
    .join('\n');
