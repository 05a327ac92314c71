import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformWithOxc } from 'vite';
import { describe, expect, it } from 'vitest';
import type { OpenApiDocument } from './openapi.ts';
import { listOperations } from './operations.ts';
import { withSamples } from './samples.ts';

const api = JSON.parse(
  readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;
const operations = Object.values(withSamples(api).paths).flatMap((methods) => Object.values(methods));
const sources = (label: string): string[] =>
  operations.map(
    (operation) => operation['x-codeSamples']?.find((sample) => sample.label === label)?.source ?? '',
  );

describe('every operation has a well-formed sample', () => {
  it('for a shell', () => {
    for (const source of sources('curl')) {
      expect(source).toMatch(/^curl -sS /);
      execFileSync('/bin/sh', ['-n'], { input: source });
    }
  });

  it('in TypeScript', async () => {
    for (const source of sources('TypeScript')) {
      expect(source).toContain('await fetch("');
      await transformWithOxc(source, 'sample.ts');
    }
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  it.skipIf(!hasPython)('in Python', () => {
    const check = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)';
    execFileSync('python3', ['-c', check], { input: JSON.stringify(sources('Python')) });
    expect(sources('Python').filter((source) => source === '')).toEqual([]);
  });
});

it('no curl sample has an unfilled path parameter', () => {
  expect(sources('curl').filter((source) => /\/\{|%7B/.test(source.split('\n')[0] ?? ''))).toEqual([]);
});

it('the sample of verify sends the members of its body and the credential of the operation', () => {
  const verify = operations.find(({ operationId }) => operationId === 'verify')?.['x-codeSamples']?.[0]
    ?.source;
  expect(verify).toContain('Authorization: Bearer $SVC_KEY');
  const body = JSON.parse(/--data '([\s\S]*)'$/.exec(verify ?? '')?.[1] ?? 'null');
  expect(Object.keys(body)).toEqual(['grant', 'proof', 'action']);
});

it('the list before the reference has every operation once', () => {
  const listed = listOperations(api).flatMap((area) => area.operations.map(({ id }) => id));
  expect(listed.sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
});
