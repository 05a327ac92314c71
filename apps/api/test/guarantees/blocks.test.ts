/**
 * Every fenced block of the guide is executed by a test or checked here: commands and options against the manuals of
 * our programs, scripts and paths against the repository, settings against the configuration, SQL against the schema. A
 * block that no test covers fails.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parser as promql } from '@prometheus-io/lezer-promql';
import { databaseTlsFault, VARIABLES } from '@svc/config';
import { serveConformance } from '@svc/conformance/node';
import { readConfig } from '@svc/process';
import { withDatabase } from '@svc/testkit';
import { type Block, fencedBlocks, runBlock } from '@svc/testkit/sdk/readme-block';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  KNOWN,
  problemsOfAddresses,
  problemsOfForeign,
  problemsOfPackages,
  unknownToProgram,
} from './foreign-commands.ts';

const ROOT = new URL('../../../../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const exists = (path: string): boolean => existsSync(new URL(path, ROOT));
const database = withDatabase();

/** Which test executes, compiles or compares the blocks of a language on a page. */
const OF_OTHER_TESTS: readonly (readonly [page: RegExp, languages: readonly string[], test: string])[] = [
  [
    /^(?:start|how-to)\//,
    ['sh', 'sh clone', 'sh terminal', 'text'],
    'apps/api/test/guarantees/guide.test.ts',
  ],
  [/^start\/relying-party$/, ['ts'], 'apps/api/test/guarantees/readme-example.test.ts'],
  [/^packages\//, ['js'], 'apps/api/test/guarantees/readmes.test.ts'],
  [/^packages\/mcp$/, ['json'], 'apps/api/test/mcp/svc-mcp.test.ts'],
  [/^kits\//, ['go', 'python', 'py', 'sh'], 'apps/api/test/guarantees/kits.test.ts'],
  [/^protocol$/, ['json'], 'apps/api/test/guarantees/documents.test.ts'],
  [/^conformance$/, ['json'], 'packages/conformance/test/documents.test.ts'],
  [/^auditing$/, ['sql', 'sql setup'], 'packages/store-pg/src/cold/auditing.test.ts'],
  [/^architecture$/, ['mermaid'], 'scripts/test/architecture.test.ts'],
];

interface Found extends Block {
  readonly page: string;
}

const listPages = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, ROOT), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return listPages(`${folder}${entry.name}/`);
    return entry.name.endsWith('.md') ? [`${folder}${entry.name}`] : [];
  });
const GUIDE = 'apps/pages/dist/guide/';
const blocks: readonly Found[] = listPages(GUIDE).flatMap((file) =>
  fencedBlocks(readText(file)).map((block) => ({
    ...block,
    page: file.slice(GUIDE.length, -'.md'.length),
  })),
);
const others = blocks.filter(
  ({ page, language }) =>
    !OF_OTHER_TESTS.some(([pages, languages]) => pages.test(page) && languages.includes(language)),
);

/** The kind of a block whose language does not say it. */
const kindOf = ({ language, code }: Block): string => {
  if (language !== '') return language;
  if (/^(?:select|create|begin|grant)\b/.test(code)) return 'sql';
  if (/^(?:sum|max) by /.test(code)) return 'promql';
  if (code.startsWith('{app=')) return 'logql';
  return /^conformance@/.test(code) ? 'output' : 'sh';
};
const ofKind = (kind: string) => others.filter((block) => kindOf(block) === kind);

it('every block of the guide has a kind that a test covers', () => {
  for (const [, , test] of OF_OTHER_TESTS) expect([test, exists(test)]).toEqual([test, true]);
  const known = ['sh', 'sql', 'json', 'js', 'promql', 'logql', 'output'];
  expect(others.filter((block) => !known.includes(kindOf(block)))).toEqual([]);
  expect(ofKind('output')).toHaveLength(1);
  expect(ofKind('js').map(({ page }) => page)).toEqual(['conformance']);
  expect(blocks.length).toBeGreaterThan(150);
});

it('JSON blocks parse as JSON', () => {
  expect(ofKind('json').length).toBeGreaterThan(0);
  for (const { code } of ofKind('json')) JSON.parse(code);
});

it('the endpoint in docs/conformance.md answers a describe request', async () => {
  const served: { close(): Promise<void> }[] = [];
  const serve: typeof serveConformance = async (...given) => {
    const server = await serveConformance(...given);
    served.push(server);
    return server;
  };
  const [block] = ofKind('js');
  const { wanted } = await runBlock<{ url: string }>(block?.code, {
    modules: { '@svc/conformance/node': { serveConformance: serve } },
    given: { myEvaluate: () => ({}) },
    replaced: { 8090: '0' },
    wanted: 'url',
  });
  const body = '{"contract":"svc-conformance-http v1","op":"describe"}';
  const answer = await (await fetch(wanted.url, { method: 'POST', body })).json();
  expect(answer).toMatchObject({
    implementation: { name: 'my-engine' },
    ops: expect.arrayContaining(['evaluate']),
  });
  for (const server of served) await server.close();
});

it('metric queries are valid PromQL, and log queries name events that docs/operations.md lists', () => {
  for (const { code } of ofKind('promql'))
    for (const line of code.split('\n').filter((one) => /^(?:sum|max) /.test(one)))
      promql
        .parse(line)
        .iterate({ enter: ({ type }) => expect([line, type.isError]).toEqual([line, false]) });
  const logged = readText('docs/operations.md');
  for (const { code } of ofKind('logql'))
    for (const [, event = ''] of code.matchAll(/msg="([^"]+)"/g)) expect(logged).toContain(`\`${event}\``);
});

describe('SQL', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(() => client.end());

  const inCommands = ofKind('sh').flatMap(({ page, code }) =>
    [...code.matchAll(/^psql .* -c "([^"]+)"/gm)].map(([, sql = '']) => ({ page, code: sql })),
  );
  it.each([...ofKind('sql'), ...inCommands].map(({ page, code }) => [page, code] as const))(
    'of %s runs on a database of this schema: %s',
    async (_, code) => {
      // Roles belong to the whole server, where other tests have theirs. A database cannot be created within the
      // transaction that is rolled back.
      const statements = (code.includes('create role') ? code.replaceAll(/\b(svc\w*)/g, '$1_of_guide') : code)
        .split(/;\s*(?:\n|$)/)
        .filter((one) => one.trim() !== '' && !/^(?:begin|commit|create database)\b/.test(one));
      expect(statements.length).toBeGreaterThan(0);
      await client.query('begin');
      try {
        for (const statement of statements)
          await client.query(statement.startsWith('select') ? `explain ${statement}` : statement);
      } finally {
        await client.query('rollback');
      }
    },
  );
});

/**
 * Other programs of which the documents use no option, beside those of foreign-commands.ts, and commands of the shell
 * itself.
 */
const FOREIGN = new Set(
  '. alias cd echo getent kill mkdir printf sed set source svc-patroni test timedatectl umask'.split(' '),
);
const OURS: Readonly<Record<string, string>> = {
  'svc-admin': 'apps/admin/man/svc-admin.1',
  'svc-receipt': 'packages/cli/man/svc-receipt.1',
  'svc-conformance': 'packages/cli/man/svc-conformance.1',
};
const scripts = new Map<string, string>(Object.entries(JSON.parse(readText('package.json')).scripts));
const EVERYWHERE = ['--help', '--version'];

/** The manual's text about each command. */
const manualOf = (program: string): ReadonlyMap<string, string> => {
  const text = readText(OURS[program] ?? '').replaceAll('\\-', '-');
  return new Map(
    text
      .split(/^\.SS /m)
      .slice(1)
      .map((part) => [part.split('\n', 1)[0]?.trim() ?? '', part]),
  );
};

const problemsOfOurs = (program: string, words: readonly string[]): readonly string[] => {
  const manual = manualOf(program);
  const named = [...manual.keys()]
    .sort((left, right) => right.length - left.length)
    .find((name) => `${words.join(' ')} `.startsWith(`${name} `));
  // A file as the first word means `verify`.
  const name = named ?? (program === 'svc-receipt' ? 'verify' : undefined);
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.split('=', 1)[0] ?? '');
  if (name === undefined)
    return options.some((option) => EVERYWHERE.includes(option))
      ? []
      : [`${program} has no ${words.join(' ')}`];
  const text = manual.get(name) ?? '';
  return options
    .filter((option) => !EVERYWHERE.includes(option) && !new RegExp(`${option}(?![a-z-])`).test(text))
    .map((option) => `${program} ${name} has no ${option}`);
};

/** Files beside the service that read its environment: the proxy's configuration, and the examples. */
const READERS = ['deploy/proxy/haproxy.cfg', 'examples/operator.ts'].map(readText).join('');

/** A variable that is set: a setting of ours or of another program, or one that the script reads later. */
const isKnownVariable = (name: string): boolean =>
  name in VARIABLES ||
  name.replace(/_FILE$/, '') in VARIABLES ||
  /^(?:OTEL_|PATRONI$|PYTHONPATH$|NODE_EXTRA_CA_CERTS$)/.test(name) ||
  new RegExp(`\\b${name}\\b`).test(READERS) ||
  (!name.startsWith('SVC_') && ofKind('sh').some(({ code }) => code.includes(`$${name}`)));

/** The command inside a loop, a function or a group, without the words of the syntax before it. */
const withoutSyntax = (words: readonly string[]): readonly string[] => {
  const [first = '', ...rest] = words;
  if (['for', 'done', '}'].includes(first)) return [];
  return ['do', '{', 'export'].includes(first) || first.endsWith('()') ? withoutSyntax(rest) : words;
};

const problemsOf = (command: readonly string[]): readonly string[] => {
  const words = withoutSyntax(command);
  const [first = '', ...rest] = words;
  const variable = /^([A-Z][A-Z0-9_]*)=/.exec(first)?.[1];
  if (variable !== undefined)
    return [...(isKnownVariable(variable) ? [] : [`no setting ${variable}`]), ...problemsOf(rest)];
  const missing = rest
    .filter((word) => /^(?:deploy|apps|packages|docs|vectors|examples)\//.test(word))
    .map((word) => word.replace(/\/[^/]*\*.*$|\/dist\/.*$/, ''))
    .filter((path) => !exists(path) && !path.startsWith('deploy/compose/state'))
    .map((path) => `no ${path}`);
  if (first === '' || first === 'sudo') return first === '' ? [] : problemsOf(rest);
  if (first in OURS) return [...problemsOfOurs(first, rest), ...missing];
  if (first === 'npm') return [...problemsOfNpm(rest), ...missing];
  if (first === 'node') return missing;
  if (first.startsWith('deploy/')) return exists(first) ? missing : [`no ${first}`];
  if (first in KNOWN) return [...problemsOfForeign(first, rest), ...missing];
  const isFunction = ofKind('sh').some(({ code }) => code.includes(`\n${first}() {`));
  return FOREIGN.has(first) || isFunction ? missing : [`no program ${first}`];
};

const problemsOfNpm = ([command = '', ...words]: readonly string[]): readonly string[] => {
  if (['install', 'create', 'start', 'test'].includes(command)) return [];
  const [script = '', ...rest] = words.filter((word) => word !== '--' && word !== '--silent');
  if (command !== 'run' || !scripts.has(script)) return [`no npm ${command} ${script}`];
  if (script in OURS) return problemsOfOurs(script, rest);
  const [name = ''] = rest;
  const isBench = script !== 'bench' || name === '' || name.startsWith('--');
  return isBench || readText('bench/src/bench.ts').includes(`\n  ${name}: () =>`)
    ? []
    : [`no benchmark ${name}`];
};

/**
 * Commands of a script, split into words: quotes, substitutions, comments and here-documents count as one word or none.
 */
const commandsOf = (code: string): readonly (readonly string[])[] =>
  code
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/<<(\w+)([^\n]*)\n.*?^\1$/gms, '$2')
    .replaceAll(/'[^']*'|"[^"]*"/g, 'Q')
    .replaceAll(/\$\([^)]*\)|<\([^)]*\)/g, 'Q')
    .replaceAll(/(?:^|(?<=\s))#.*$/gm, '')
    .split(/\n|;|&&|\|\|?|&/)
    .map((part) => part.trim().split(/\s+/))
    .filter(([first]) => first !== '');

it.each(ofKind('sh').map(({ page, code }) => [page, code] as const))(
  'the commands of %s are valid shell with existing programs, options, settings and files: %s',
  (_, code) => {
    const { status, stderr } = spawnSync('/bin/sh', ['-nc', code.replaceAll(/<\(/g, '$(')], {
      encoding: 'utf8',
      cwd: fileURLToPath(ROOT),
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(commandsOf(code).flatMap(problemsOf)).toEqual([]);
  },
);

it('documented options of third-party programs are known to those programs that are installed here', () => {
  const asked = Object.keys(KNOWN).map((program) => [program, unknownToProgram(program)] as const);
  expect(asked.filter(([, unknown]) => unknown !== null && unknown.length > 0)).toEqual([]);
  // At least so many are installed on every system that runs these tests.
  expect(asked.filter(([, unknown]) => unknown !== null).length).toBeGreaterThan(5);
});

it('every URL of the service in a block matches a route with the method of the command', () => {
  const found = blocks.flatMap(({ page, code }) => problemsOfAddresses(code).map((one) => [page, one]));
  expect(found).toEqual([]);
});

it('the guide uses the variable SVC_URL and never the default port', () => {
  const own = blocks.filter(({ page }) => /^(?:start|how-to)\//.test(page));
  expect(own.filter(({ code }) => code.includes(`:${readConfig({}).port}`))).toEqual([]);
  expect(own.filter(({ code }) => code.includes('$SVC_URL')).length).toBeGreaterThan(5);
});

it('every documented address of a remote database is accepted in production', () => {
  const shown = [
    'deploy/README.md',
    'deploy/systemd/svc.env',
    'docs/operations.md',
    'docs/availability.md',
  ].flatMap((file) =>
    [...readText(file).matchAll(/postgres:\/\/[^\s`,]*@[\w.-]*\.internal[^\s`,]*/g)].map(([url]) => url),
  );
  expect(shown.length).toBeGreaterThan(6);
  const refused = shown.filter(
    (url) => databaseTlsFault({ SVC_ENV: 'production', DATABASE_URL: url }) !== null,
  );
  expect(refused).toEqual([]);
});

it('every package that a page installs is published from this repository or is in the lock file', () => {
  const pages = listPages(GUIDE).map((file) => [file, problemsOfPackages(readText(file))] as const);
  expect(pages.filter(([, problems]) => problems.length > 0)).toEqual([]);
});

it('the scores in docs/mcp.md are those that npm run mcp:conformance recorded', () => {
  const [{ code } = { code: '' }] = ofKind('output');
  expect(code).toBe(readText('apps/api/test/mcp/conformance-scores.txt'));
});

it('the checks find unknown options, subcommands, settings, URLs and packages', () => {
  expect(problemsOfForeign('curl', ['-sSZ'])).toEqual(['curl has no -Z']);
  expect(problemsOfForeign('openssl', ['random', '-hex', '32'])).toEqual(['openssl has no random']);
  expect(commandsOf('for n in 1; do curl -Z; done').flatMap(problemsOf)).toEqual(['curl has no -Z']);
  expect(commandsOf('export SVC_NOTHING=1').flatMap(problemsOf)).toEqual(['no setting SVC_NOTHING']);
  expect(problemsOfAddresses('curl -X POST https://svc.example/claim/did:web:a/release')).toHaveLength(1);
  expect(problemsOfAddresses('curl https://svc.example/claims/did:web:a/release')).toHaveLength(1);
  expect(problemsOfAddresses('curl -s http://127.0.0.1:9464/ready')).toHaveLength(1);
  expect(problemsOfPackages('npm install @svc/sdk-shop')).toEqual(['no package @svc/sdk-shop']);
});
