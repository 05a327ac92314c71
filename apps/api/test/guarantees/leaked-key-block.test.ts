/** The block of deploy/README.md for a leaked key in a cluster, run with a `kubectl` that fails at one call after another. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { sampleOf } from '@svc/testkit/sampled';
import { afterAll, expect, it } from 'vitest';

const readme = readFileSync(new URL('../../../../deploy/README.md', import.meta.url), 'utf8');
const [, block = ''] = /```\n(umask 077 && KEYS=[\s\S]*?)```/.exec(readme) ?? [];

const folder = mkdtempSync(join(tmpdir(), 'svc-kubectl-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(
  join(folder, 'kubectl'),
  `#!/bin/sh
echo "$*" >> "$CALLS"
[ "$(wc -l < "$CALLS")" -eq "$FAILS" ] && exit 1
case "$*" in
  *tar*) tar -c -C "$SET" . ;;
  *create*) echo secret ;;
esac
`,
  { mode: 0o700 },
);

/**
 * Returns the calls that were made and the copies that are left. `fails` is the number of the call that fails; 0: none.
 */
const run = (fails: number, files = ['receipt-keys.json', 'status-keys.json']) => {
  const home = mkdtempSync(join(folder, 'run-'));
  const [set, tmp, calls] = ['set', 'tmp', 'calls'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [set, tmp]) mkdirSync(path);
  for (const file of files) writeFileSync(join(set, file), '{}');
  const { status } = spawnSync('bash', ['-c', block], {
    env: {
      ...{ PATH: `${folder}${delimiter}${process.env.PATH}`, TMPDIR: tmp },
      ...{ SET: set, CALLS: calls, FAILS: String(fails) },
    },
  });
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : [];
  return { status, called, left: readdirSync(tmp) };
};

it('the leaked-key script of deploy/README.md makes its kubectl calls in order and deletes its local copy of the keys', () => {
  const { status, called, left } = run(0);
  expect([status, left]).toEqual([0, []]);
  expect(called.map((call) => call.split(' ')[0])).toEqual([
    'scale',
    'rollout',
    'exec',
    'exec',
    'exec',
    'create',
    'replace',
    'rollout',
    'rollout',
    'rollout',
    'scale',
  ]);
});

it('the leaked-key script stops with status 1 at the first kubectl call that fails', () => {
  const { called } = run(0);
  const numbers = Array.from({ length: called.length - 1 }, (_, i) => i + 1);
  for (const fails of sampleOf(numbers, 4)) {
    const cut = run(fails);
    expect([cut.status, cut.called.length]).toEqual([1, fails]);
  }
});

it('the leaked-key script replaces nothing when a key set is missing from the copy', () => {
  const { status, called } = run(0, ['status-keys.json']);
  expect(status).toBe(1);
  expect(called.filter((call) => /^(?:create|replace|scale .*0$)/.test(call))).toEqual([]);
});
