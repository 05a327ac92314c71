/** Tables, examples and links in docs/ and the README agree with the code and the files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RUNNER_VARIABLES, VARIABLES, WORKER_VARIABLES } from '@svc/config';
import { ERROR_STATUS, routes } from '@svc/contract';
import {
  CHECKS,
  type JsonValue,
  PROFILES,
  parseStrictJson,
  portableCrypto,
  sha256Of,
  TRUST_CONFIG,
  trustConfigDocument,
} from '@svc/protocol';
import { fencedBlocks } from '@svc/testkit/sdk/readme-block';
import { expect, it } from 'vitest';

const ROOT = new URL('../../../../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const protocol = readText('docs/protocol.md');

/** The cells of the rows whose first cell matches, in order. */
const rows = (text: string, first: RegExp): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\', '')),
    )
    .filter(([cell = '']) => first.test(cell));

it('protocol §14 lists exactly the variables that the runner and the worker read', () => {
  const namedIn = (from: string, to: string): (string | undefined)[] => {
    const [, after = ''] = protocol.split(from);
    const [sentence = ''] = after.split(to);
    return [...sentence.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name);
  };
  const ofRunner = namedIn('The conformance runner reads', 'and no other');
  expect([...new Set(ofRunner)].toSorted()).toEqual([...RUNNER_VARIABLES].toSorted());
  const others = namedIn('The worker reads the\nsame and', 'and no other');
  expect([...others, ...RUNNER_VARIABLES].toSorted()).toEqual([...WORKER_VARIABLES].toSorted());
});

it('the table of checks in docs/protocol.md equals the checks of the engine', () => {
  const expected = CHECKS.map(({ id, requires, title, reasons, cites }, i) => [
    String(i + 1),
    id,
    requires.length === CHECKS.length - 1 ? 'all above' : requires.join(', ') || '–',
    title,
    reasons.join(', '),
    cites.map((source) => source.replace('protocol ', '')).join(', '),
  ]);
  expect(rows(protocol, /^[0-9]+$/)).toEqual(expected);
});

it('the configuration table in docs/protocol.md equals the variables that the process reads', () => {
  const expected = Object.entries(VARIABLES).map(([name, entry]) => [
    name,
    entry.standard,
    entry.meaning,
    'production' in entry ? entry.production : '',
  ]);
  expect(rows(protocol, /^(SVC_|DATABASE_)/)).toEqual(expected);
});

it('the table of docs/protocol.md §13 has every route, and each path in it with a parameter is that of a route', () => {
  const withoutNames = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const all = new Set(
    Object.values(routes).map(({ method, path }) => `${method.toUpperCase()} ${withoutNames(path)}`),
  );
  const listed = new Set<string>();
  const [, section = ''] = protocol.split('\n## 13. HTTP\n');
  for (const [, cell = ''] of section.split('\n### ')[0]?.matchAll(/^\| (`[A-Z]+ .*?) \|/gm) ?? []) {
    let [method, base] = ['', ''];
    for (const [, text = ''] of cell.matchAll(/`([^`]+)`/g)) {
      const [, named, path = ''] = /^(?:([A-Z]+) )?(.*)$/.exec(withoutNames(text)) ?? [];
      if (named !== undefined) [method, base] = [named, path];
      // `/export` and `…/reject` are short for paths beside the one that the cell names before them.
      const last = path.replace(/^…?/, '');
      const meant = [last, base + last, base.replace(/\/[^/]*$/, last)].map((one) => `${method} ${one}`);
      const found = meant.find((one) => all.has(one));
      if (found !== undefined) listed.add(found);
      else if (text.includes('{')) listed.add(`${method} ${text}: no route`);
    }
  }
  expect([...listed].sort()).toEqual([...all].sort());
});

it('docs/protocol.md lists every error code with its status', () => {
  const expected = Object.entries(ERROR_STATUS).map(([code, status]) => [code, String(status)]);
  const listed = rows(protocol, /^(?!SVC_)[A-Z_]+$/).map(([code, status]) => [code, status]);
  expect(listed.filter(([, status]) => /^[45][0-9]{2}$/.test(status ?? ''))).toEqual(expected);
});

it('docs/protocol.md contains the hashes of the profiles and of the trust configuration', () => {
  for (const { hash } of Object.values(PROFILES)) expect(protocol).toContain(hash);
  expect(protocol).toContain(sha256Of(portableCrypto, trustConfigDocument(TRUST_CONFIG)));
});

it('the worked example in docs/protocol.md is the Grant, Proof and Receipt of the vector allow-purchase', () => {
  const vector = JSON.parse(readText('vectors/evaluate/allow-purchase.json'));
  const parts = (jws: string): unknown[] =>
    jws.split('.', 2).map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const shown = [...protocol.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']): JsonValue => {
    const parsed = parseStrictJson(text);
    if (!parsed.ok) throw new Error(`docs/protocol.md: ${parsed.problem}`);
    return parsed.value;
  });
  const { input, expected } = vector;
  expect(shown).toEqual([...parts(input.grant), ...parts(input.proof), expected.body]);
});

const inFolder = (folder: string) =>
  readdirSync(fileURLToPath(new URL(folder, ROOT)))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`);
const documents = [...inFolder('./'), ...inFolder('docs/'), ...inFolder('docs/decisions/')];

it('every relative link in the documents points to an existing file', () => {
  const broken = documents.flatMap((file) =>
    [...readText(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(new URL(target, new URL(file, ROOT))))
      .map((target) => `${file} → ${target}`),
  );
  expect(broken).toEqual([]);
});

it('documented commands that redirect or pipe the output of npm run use --silent', () => {
  const lines = documents.flatMap((file) =>
    fencedBlocks(readText(file)).flatMap(({ code }) => code.split('\n')),
  );
  expect(lines.filter((line) => / [>|] /.test(line)).length).toBeGreaterThan(50);
  expect(lines.filter((line) => /npm run (?!--silent ).* [>|] /.test(line))).toEqual([]);
});
