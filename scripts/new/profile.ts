/** Writes a new profile: its file, its id, its entry. */
import { createFile, insertAll, listFolder, requireForm } from './files.ts';

const FOLDER = 'packages/protocol/src/profiles';

export const newProfile = (id: string): readonly string[] => {
  const [, digits = ''] = requireForm(id, /^svc-base-v([1-9][0-9]?)$/, 'svc-base-v and a number');
  const numbers = listFolder(FOLDER).flatMap(
    (file) => /^base-v([0-9]+)\.ts$/.exec(file)?.slice(1).map(Number) ?? [],
  );
  const last = Math.max(...numbers);
  if (Number(digits) !== last + 1) throw new Error(`${id}: the next profile is svc-base-v${last + 1}`);
  const variable = `BASE_V${digits}`;
  insertAll([
    {
      file: `${FOLDER}/profile.ts`,
      place: /export const PROFILE_IDS = \[(?:'[^']*'(?:, )?)*/,
      text: `, '${id}'`,
    },
    {
      file: `${FOLDER}/index.ts`,
      place: /(?:import \{ BASE_V[^\n]*\n)+/,
      text: `import { ${variable} } from './base-v${digits}.ts';\n`,
    },
    {
      file: `${FOLDER}/index.ts`,
      place: /export const PROFILES[^\n]*\n(?: {2}'[^\n]*\n)*/,
      text: `  '${id}': /* @__PURE__ */ published(${variable}),\n`,
    },
  ]);
  const file = `${FOLDER}/base-v${digits}.ts`;
  createFile(file, profileText(id, variable, last));
  return [
    `${file}   what it adds; a check that it alone runs says so itself`,
    'packages/protocol/src/checks/table.test.ts   its hash, once it is final: from then on it never changes',
    'packages/receipts/src/verify/published.ts   its table and hash, which published.test.ts shows',
    'kits/python/src/svc_kit/published.py   the same',
    'kits/go/published.go   the same',
    'examples/independent-engine/evaluate.mjs   the profile, and each of its checks',
    'docs/protocol.md §8   its hash',
    'docs/openapi.json   npm run --prefix packages/contract openapi, then npm run --prefix packages/sdk-core generate',
  ];
};

const profileText = (
  id: string,
  variable: string,
  last: number,
): string => `/** \`${id}\`: TODO what it adds to \`svc-base-v${last}\` (interface §Versioning). */
import { BASE_V${last} } from './base-v${last}.ts';
import type { Profile } from './profile.ts';

export const ${variable}: Profile = { ...BASE_V${last}, id: '${id}' };
`;
