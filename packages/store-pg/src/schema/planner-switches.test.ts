/**
 * The planner's settings that a function says are in force in all that it calls. A plan that is right in one caller may
 * then take a thousand times as long in another, so a function that joins has settings of its own.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Functions that look up single rows by their keys, whatever the settings. */
const BY_KEY = [
  ...['svc_emit_decisions', 'svc_emit_event', 'svc_emit_low_budgets', 'svc_find_next'],
  ...['svc_grant_is_paused', 'svc_note_due'],
];

interface SchemaFunction {
  readonly settings: ReadonlySet<string>;
  /** Without it, a function is called by others only, and is planned with them. */
  readonly hasPath: boolean;
  readonly joins: boolean;
  readonly calls: readonly string[];
}

const schema = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8');
const functions = new Map<string, SchemaFunction>();
for (const [, name = '', head = '', body = ''] of schema.matchAll(
  /^CREATE OR REPLACE FUNCTION public\.(\w+)(.*?)^AS \$function\$(.*?)^\$function\$;$/gms,
))
  functions.set(name, {
    settings: new Set(head.match(/(?<=^ SET )enable_\w+/gm)),
    hasPath: /^ SET search_path/m.test(head),
    joins: /\b(?:join|using|exists)\b/.test(body),
    calls: [...new Set(body.match(/\bsvc_\w+/g))].filter((called) => called !== name),
  });

it('no plan of a function that joins depends on the settings of its caller', () => {
  const found = new Set<string>();
  const walk = (name: string, inherited: ReadonlySet<string>): void => {
    const { settings = new Set<string>(), calls = [] } = functions.get(name) ?? {};
    const inForce = new Set([...inherited, ...settings]);
    for (const called of calls) {
      const callee = functions.get(called);
      if (callee === undefined) continue;
      const lacking = [...inForce].filter((setting) => !callee.settings.has(setting));
      if (callee.hasPath && callee.joins && lacking.length > 0 && !BY_KEY.includes(called))
        found.add(`${name} sets ${lacking.join(', ')} for ${called}`);
      walk(called, inForce);
    }
  };
  for (const name of functions.keys()) walk(name, new Set());
  expect(functions.size).toBeGreaterThan(100);
  expect([...found]).toEqual([]);
});
