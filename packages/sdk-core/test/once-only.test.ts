/** The calls that are never repeated are those that the READMEs of both SDKs name. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const packages = new URL('../../', import.meta.url);
const readIn = (path: string) => readFileSync(new URL(path, packages), 'utf8');

/** The member of the client whose calls a file contains. A file without an entry here fails the test. */
const AREAS: Readonly<Record<string, string>> = {
  'account.ts': 'apiKeys',
  'event-subscriptions.ts': 'subscriptions',
  'outcomes.ts': 'outcomes',
};

/** Calls with `isOnceOnly: true`, as `area.method`. The method is the last one that begins before the option. */
const onceOnlyIn = (folder: string): string[] =>
  readdirSync(new URL(folder, packages)).flatMap((file) => {
    const source = readIn(`${folder}${file}`);
    return [...source.matchAll(/isOnceOnly: true/g)].map(({ index }) => {
      const [method = '?'] = [
        ...source.slice(0, index).matchAll(/^ {2,4}(?:async (\w+)\(|(\w+): (?:async )?\()/gm),
      ]
        .map(([, named, arrow]) => named ?? arrow)
        .slice(-1);
      return `${AREAS[file] ?? `(unknown area of ${file})`}.${method}`;
    });
  });

const ofBoth = onceOnlyIn('sdk-core/src/');

it.each(['sdk-principal', 'sdk-rp'])('the README of %s lists the calls that are never sent twice', (name) => {
  const [, list = ''] =
    /^The SDK never sends these calls twice: (.*?)\. After/ms.exec(readIn(`${name}/README.md`)) ?? [];
  const said = [...list.matchAll(/`(.*?)`/g)].map(([, call]) => call);
  const calls = [...ofBoth, ...onceOnlyIn(`${name}/src/`)];
  expect(calls.length).toBeGreaterThan(2);
  expect(said.sort()).toEqual(calls.sort());
});
