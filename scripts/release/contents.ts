/** What a packed package may contain: what its users run and read, and nothing else. */
import type { Manifest } from './packages.ts';

const ALWAYS = ['package.json', 'README.md', 'LICENSE'];
/** The licences of bundled dependencies. */
const MAY_HOLD = 'THIRD-PARTY-LICENCES.txt';
/** The source maps contain our sources, so that users' stack traces lead to them. */
const BUILT = /^dist\/(?:[\w./-]+\.(?:c?js|c?js\.map|d\.c?ts)|vectors\/[\w./-]+\.json)$/;
const MAN_PAGE = /^man\/svc-[a-z]+\.1$/;
/** The vectors are data. */
const VECTORS = /^(?:(?:evaluate|schema)\/[\w./-]+\.json|[\w-]+\.json)$/;
/** The template that `create-svc-shop` writes: the files of a project, including its test. */
const TEMPLATE = /^template\/[\w.-]+$/;
/** The files that a program reads from its folder, and the licences of bundled dependencies. */
const OF_A_PROGRAM = /^dist\/(?:migrations\/[\w./-]+\.sql|main\.js\.LEGAL\.txt)$/;
const NEVER = /(?:^|\/)(?:src|test|tests|fixtures?|node_modules)\/|\.(?:test|spec)\./;

/** The faults of a package's files, one sentence each. */
export const findContentFaults = (manifest: Manifest, files: readonly string[]): readonly string[] => {
  const { name } = manifest;
  const mayHold = name === '@svc/vectors' ? VECTORS : BUILT;
  const wrong = files
    .filter((file) => name !== 'create-svc-shop' || !TEMPLATE.test(file))
    .filter((file) => name !== '@svc/admin' || !OF_A_PROGRAM.test(file))
    .filter(
      (file) =>
        NEVER.test(file) ||
        !(ALWAYS.includes(file) || file === MAY_HOLD || MAN_PAGE.test(file) || mayHold.test(file)),
    )
    .map((file) => `${name} would publish ${file}`);
  const there = new Set(files);
  const missing = [...ALWAYS, ...entriesOf(manifest)]
    .filter((file) => !there.has(file))
    .map((file) => `${name} lacks ${file}`);
  return [...wrong, ...missing];
};

/** Files to which the packed manifest refers, including types. */
const entriesOf = ({ exports = {}, bin = {} }: Manifest): string[] => {
  const paths = (entry: unknown): string[] => {
    if (typeof entry === 'string') return entry.includes('*') ? [] : [entry.replace(/^\.\//, '')];
    return entry !== null && typeof entry === 'object' ? Object.values(entry).flatMap(paths) : [];
  };
  return [...new Set([...paths(exports), ...paths(bin)])];
};
