/** Checks what documents say about programs of others, our addresses, and packages. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Route, routes } from '@svc/contract';

const ROOT = new URL('../../../../', import.meta.url);

/** Subcommands and options of each program that documents use, as its manual spells them. */
export const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'apt-get': ['install'],
  aws: ['kms', 'describe-key', '--key-id', '--query'],
  awk: [],
  cat: [],
  chronyc: ['tracking'],
  cp: ['-r'],
  curl: [
    ...['-d', '-f', '-H', '-i', '-o', '-s', '-S', '-v', '-w', '-X', '--cacert', '--create-dirs', '--data'],
    ...['--retry', '--retry-delay', '--retry-all-errors'],
  ],
  df: ['-h'],
  dmesg: [],
  docker: ['build', 'run', '-f', '-t', '--rm'],
  dpkg: ['-x'],
  env: ['-u'],
  grep: ['-i'],
  haproxy: ['-db', '-f'],
  head: [],
  helm: ['upgrade', '--install', '--timeout', '--values'],
  install: ['-D', '-d', '-m', '-o', '-g'],
  journalctl: ['-u', '-n', '--no-pager'],
  jq: ['-c', '-r', '-s'],
  // Not --from-literal, which would put a secret into the arguments of a program.
  kubectl: [
    ...['create', 'secret', 'generic', '--from-file', '--dry-run', '-o', 'replace', '-f'],
    ...['exec', 'rollout', 'restart', 'status', '--timeout', 'scale', '--replicas'],
  ],
  openssl: [
    ...['rand', '-hex', '-base64', 'req', '-addext', '-days', '-keyout', '-newkey', '-nodes', '-out'],
    ...['-pkeyopt', '-subj', '-x509'],
  ],
  patronictl: ['list'],
  'pkcs11-tool': ['--module', '--list-token-slots'],
  psql: ['-c', '-v', '-f', '-X'],
  rm: ['-r'],
  sort: ['-r', '-n'],
  ss: ['-H', '-t', '-n'],
  systemctl: ['daemon-reload', 'start', 'enable', '--now', 'restart', 'stop'],
  tail: ['-1', '-50'],
  tar: ['-x', '-C', '-f'],
  uniq: ['-c'],
};
/** Programs whose first words are subcommands, up to the first operand, with the number of these words. */
const WITH_SUBCOMMANDS: Readonly<Record<string, number>> = {
  ...{
    'apt-get': 1,
    aws: 2,
    chronyc: 1,
    docker: 1,
    helm: 1,
    kubectl: 3,
    openssl: 1,
    patronictl: 1,
    systemctl: 1,
  },
};
/** Only these programs accept several letters behind one dash, each an option. */
const LETTERS = new Set(['curl', 'sort', 'ss', 'jq']);

/** Options and subcommands that the program does not have, or that `KNOWN` does not list yet. */
export const problemsOfForeign = (program: string, words: readonly string[]): readonly string[] => {
  const known = KNOWN[program];
  if (known === undefined) return [];
  // Words for a command that a container or a shell runs belong to that command.
  const end = words.indexOf(program === 'docker' ? 'svc' : '--');
  const own = end === -1 ? words : words.slice(0, end);
  const operand = own.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  const leading = operand === -1 ? own : own.slice(0, operand);
  const subcommands = leading.slice(0, WITH_SUBCOMMANDS[program] ?? 0);
  return [
    ...subcommands,
    ...own.filter((word) => /^-+\w/.test(word)).flatMap((word) => lettersOf(program, word)),
  ]
    .filter((word) => !known.includes(word))
    .map((word) => `${program} has no ${word}`);
};

const lettersOf = (program: string, word: string): readonly string[] => {
  const name = word.split('=', 1)[0] ?? '';
  return LETTERS.has(program) && /^-[A-Za-z]{2,}$/.test(name)
    ? [...name.slice(1)].map((letter) => `-${letter}`)
    : [name];
};

/** How to ask a program for its options where plain `--help` does not list them. */
const HELP: Readonly<Record<string, readonly (readonly string[])[]>> = {
  aws: [],
  curl: [['--help', 'all']],
  docker: [['build', '--help'], ['run', '--help'], ['--help']],
  kubectl: [
    ...[
      ['create', 'secret', 'generic', '--help'],
      ['create', '--help'],
      ['rollout', '--help'],
      ['rollout', 'status', '--help'],
    ],
    ...[['replace', '--help'], ['scale', '--help'], ['--help']],
  ],
  openssl: [
    ['rand', '-help'],
    ['req', '-help'],
    ['list', '-commands'],
  ],
};

/**
 * Options in `KNOWN` that the help of the installed program does not mention; null where it is not installed, or prints
 * no help.
 */
export const unknownToProgram = (program: string): readonly string[] | null => {
  const told = (HELP[program] ?? [['--help']]).map((words) => {
    const { stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8', timeout: 30_000 });
    return error === undefined ? stdout + stderr : '';
  });
  const text = told.join('\n');
  if (text.length < 200) return null;
  return (KNOWN[program] ?? []).filter((word) => !/^-\d+$/.test(word) && !saysWord(text, word));
};

const saysWord = (text: string, word: string): boolean =>
  new RegExp(`(?:^|[^\\w-])${word}(?![\\w-])`, 'm').test(text) ||
  // Matches `-[no]x` and `-xyz` of short synopses.
  (/^-\w$/.test(word) && new RegExp(`(?:^|[\\s[])-\\w*${word.slice(1)}`, 'm').test(text));

/** Our hosts in documents: the API, by name or variable, and the admin port. */
const ADDRESS =
  /(?:https:\/\/svc\.example|http:\/\/(?:localhost|127\.0\.0\.1):8080|"?\$\{?(?:SVC_URL|SVC_BASE_URL|BASE_URL)\}?"?)(\/[^\s"'`)<>|]*)/g;
const ADMIN_ADDRESS = /http:\/\/(?:localhost|127\.0\.0\.1):9464(\/[^\s"'`)<>|]*)/g;
const ADMIN_PATHS = ['/livez', '/readyz', '/metrics'];
/** Paths served beside the routes: pages and their files. */
const PAGES =
  /^\/(?:$|docs$|guide\b|playground$|verify-receipt$|transparency$|dashboard$|approve$|openapi\.json$|llms\.txt$)/;

/** Our addresses that no route answers: for a `curl` with its method, otherwise with any. */
export const problemsOfAddresses = (code: string): readonly string[] =>
  code
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const method = /\bcurl\b/.test(line) ? methodOf(line) : null;
      const api = [...line.matchAll(ADDRESS)].map(([, path = '']) => path.replace(/[?#].*$/, ''));
      const admin = [...line.matchAll(ADMIN_ADDRESS)].map(([, path = '']) => path);
      return [
        ...api.filter((path) => !PAGES.test(path) && !isRoute(path, method)),
        ...admin.filter((path) => !ADMIN_PATHS.includes(path)),
      ].map((path) => `no ${method ?? 'route'} ${path}`);
    });

const methodOf = (line: string): string =>
  /\s(?:-X|--request)\s+(\w+)/.exec(line)?.[1]?.toLowerCase() ??
  (/\s(?:-d|--data\S*|--json)\s/.test(line) ? 'post' : 'get');

const isRoute = (path: string, method: string | null): boolean =>
  (Object.values(routes) as readonly Route[]).some(
    (route) =>
      (method === null || route.method === method) &&
      new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );

/** Packages that documents tell readers to install, and that are neither published from here nor in the lock file. */
export const problemsOfPackages = (text: string): readonly string[] =>
  [...text.matchAll(/\bnpm (install|create) ([^`\n#]*)/g)].flatMap(([, command, words = '']) =>
    words
      .split(/\s+/)
      .slice(0, command === 'create' ? 1 : undefined)
      .filter((word) => /^@?[a-z]/.test(word) && !word.includes('.tgz'))
      .map((word) => (command === 'create' ? `create-${word}` : word.replace(/(?<=.)@\d.*$/, '')))
      .filter(
        (name) =>
          !published.has(name) && !lockfile.includes(`\n  '${name}@`) && !lockfile.includes(`\n  ${name}@`),
      )
      .map((name) => `no package ${name}`),
  );

const lockfile = readFileSync(new URL('pnpm-lock.yaml', ROOT), 'utf8');
const published = new Set(
  ['packages', 'apps', '.'].flatMap((group) =>
    readdirSync(new URL(`${group}/`, ROOT))
      .map((name) => new URL(`${group}/${name}/package.json`, ROOT))
      .filter((file) => existsSync(file))
      .map((file) => JSON.parse(readFileSync(file, 'utf8')) as { name: string; private?: boolean })
      .filter((manifest) => manifest.private !== true)
      .map(({ name }) => name),
  ),
);
