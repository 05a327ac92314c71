/**
 * Every function of the schema has a caller: a statement of the code, a trigger or default, or a function with a
 * caller.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** Functions that the last release calls, whose nodes run beside this version. */
const OF_THE_LAST_RELEASE = [
  'svc_open_deliveries',
  'svc_sequence_events',
  'svc_subscriptions_behind',
  'svc_take_deliveries',
  'svc_take_due',
  'svc_take_to_send',
];

const namesIn = (text: string): string[] => text.match(/\bsvc_\w+/g) ?? [];

it('every function of the schema is called by this version or by the last release', () => {
  const schema = read('packages/store-pg/schema.sql');
  const [outside = '', ...bodies] = schema.split(/^CREATE OR REPLACE FUNCTION public\./m);
  const functions = new Map<string, string>();
  let rest = outside;
  for (const text of bodies) {
    const [body = '', behind = ''] = text.split(/^\$function\$;$/m);
    const [name = ''] = namesIn(body);
    functions.set(name, (functions.get(name) ?? '') + body.slice(name.length));
    rest += behind;
  }
  expect(functions.size).toBeGreaterThan(100);

  const sources = execFileSync('git', ['ls-files', 'packages/*.ts', 'apps/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(
      (path) => path !== '' && !/\.test\.ts$|\/test\/|^packages\/testkit\/|\.generated\.ts$/.test(path),
    );
  const called = new Set<string>();
  const call = (names: readonly string[]): void => {
    for (const name of names) {
      const body = functions.get(name);
      if (body === undefined || called.has(name)) continue;
      called.add(name);
      call(namesIn(body));
    }
  };
  call(namesIn(rest));
  for (const path of sources) call(namesIn(read(path)));
  expect(OF_THE_LAST_RELEASE.filter((name) => called.has(name))).toEqual([]);
  call(OF_THE_LAST_RELEASE);
  expect([...functions.keys()].filter((name) => !called.has(name))).toEqual([]);
});
