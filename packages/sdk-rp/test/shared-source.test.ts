import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The two client libraries are installed apart, so each has its own copy of how it talks to the service. */
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

it.each(['src/errors.ts', 'src/deadline.ts', 'src/answer.ts', 'src/transport.ts', 'test/scripted-server.ts'])(
  '%s is the same in both client libraries',
  (path) => {
    expect(read(`../${path}`)).toBe(read(`../../sdk-principal/${path}`));
  },
);
