/** What a packed package may hold: what its users run and read, and nothing else. */
import type { Manifest } from './packages.ts';

const ALWAYS = ['package.json', 'README.md', 'LICENSE'];
/** The licences of what is bundled in. */
const MAY_HOLD = 'THIRD-PARTY-LICENCES.txt';
/** Sources of ours stand in the source maps, so that a stack of a user leads to them. */
const BUILT = /^dist\/(?:[\w./-]+\.(?:c?js|c?js\.map|d\.c?ts)|vectors\/[\w./-]+\.json)$/;
const MAN_PAGE = /^man\/svc-[a-z]+\.1$/;
/** The vectors are data. */
const VECTORS = /^(?:(?:evaluate|schema)\/[\w./-]+\.json|[\w-]+\.json)$/;
/** What `create-svc-shop` writes: files of a project, its test among them. */
const TEMPLATE = /^template\/[\w.-]+$/;
/** What a program reads beside itself, and what the licences of what is inside want to be said. */
const OF_A_PROGRAM = /^dist\/(?:migrations\/[\w./-]+\.sql|main\.js\.LEGAL\.txt)$/;
const NEVER = /(?:^|\/)(?:src|test|tests|fixtures?|node_modules)\/|\.(?:test|spec)\./;

/** What is wrong with these files of a package, one sentence each. */
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

/** Files that the packed manifest leads users to, types among them. */
const entriesOf = ({ exports = {}, bin = {} }: Manifest): string[] => {
  const paths = (entry: unknown): string[] => {
    if (typeof entry === 'string') return entry.includes('*') ? [] : [entry.replace(/^\.\//, '')];
    return entry !== null && typeof entry === 'object' ? Object.values(entry).flatMap(paths) : [];
  };
  return [...new Set([...paths(exports), ...paths(bin)])];
};
