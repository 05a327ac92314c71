/** Writes a new check: its file, its place in the table, its vectors. */
import { createFile, insertAll, listFolder, requireForm } from './files.ts';

const FOLDER = 'packages/protocol/src/checks';
const COMPARISONS = 'packages/protocol/src/explain/comparisons.ts';

export const newCheck = (name: string): readonly string[] => {
  const [, letter = '', digits = '', words = ''] = requireForm(
    name,
    /^([pt])([0-9]{2})-([a-z]+(?:-[a-z]+)*)$/,
    'ID-NAME such as p21-resource-not-blocked: p of the protocol, t of trust',
  );
  const id = `${letter.toUpperCase()}${Number(digits)}`;
  const variable = name.replace(/-([a-z])/g, (_, first: string) => first.toUpperCase());
  requireFreeId(`${letter}${digits}`);
  const file = `${FOLDER}/${name}.ts`;
  const cases = `vectors/src/cases/${letter}${digits}/${words}.ts`;
  insertAll([
    {
      file: `${FOLDER}/table.ts`,
      place: letter === 'p' ? /(?:import \{ p[^\n]*\n)+/ : /(?:import \{ t[^\n]*\n)+/,
      text: `import { ${variable} } from './${name}.ts';\n`,
    },
    {
      file: `${FOLDER}/table.ts`,
      place: /const BEFORE_SPENDING = \[\n(?: {2}\w+,\n)*/,
      text: `  ${variable},\n`,
    },
    {
      file: COMPARISONS,
      place: /^export const COMPARISONS[^\n]*\n(?:(?!\};)[^\n]*\n)*/m,
      text: `  ${id}: () => one('TODO', 'TODO', 'TODO'),\n`,
    },
  ]);
  createFile(file, checkText(id, variable, words));
  createFile(cases, casesText(id));
  return [
    `${file}   what it demands, what it requires, what it denies, where that is written`,
    `${FOLDER}/table.ts   put it into pipeline order: the order decides the reason of a DENY`,
    'packages/protocol/src/model/reason-code.ts   a reason of its own with its text: each belongs to one check',
    'packages/protocol/src/explain/remedies.ts   who can remedy a DENY for that reason, and how',
    `${COMPARISONS}   what it compares with what, for dry runs`,
    'packages/protocol/src/profiles/   a new profile. The published ones are pinned by hash and leave the check out: CONTRIBUTING.md, “A profile”, says where',
    'vectors/schema/evaluate.schema.json   by hand: the id in checkId and in the pattern of checks, the profile, the reason',
    `${cases}   an allow, a deny for each reason and a skip; then npm run vectors, before any test`,
    'docs/protocol.md §7 and §8   its row, the rule, the profile',
  ];
};

/** Throws when a check has this id, such as `p20`. Says which number is free. */
const requireFreeId = (id: string): void => {
  const checks = listFolder(FOLDER).filter((file) => /^[pt][0-9]{2}-/.test(file));
  const holder = checks.find((file) => file.startsWith(`${id}-`));
  if (holder === undefined) return;
  const numbers = checks.filter((file) => file[0] === id[0]).map((file) => Number(file.slice(1, 3)));
  const next = `${id[0]}${String(Math.max(...numbers) + 1).padStart(2, '0')}`;
  throw new Error(`${id}: is the id of ${FOLDER}/${holder}; the next free id is ${next}`);
};

const checkText = (
  id: string,
  variable: string,
  words: string,
): string => `/** ${id}: TODO what it requires, and what an attacker could do without it. */
import { defineCheck } from './check.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const ${variable} = /* @__PURE__ */ defineCheck({
  id: '${id}',
  title: 'TODO ${words.replaceAll('-', ' ')}',
  cites: ['interface §TODO', 'protocol §7'],
  requires: [p03GrantSignature],
  // TODO a reason of its own: this is the reason of P15.
  reasons: ['ACTION_MALFORMED'],
  run: () => {
    throw new Error('check ${id} is not written yet');
  },
});
`;

const casesText = (id: string): string => `/** ${id}: TODO what these cases show (protocol §7). */
import type { VectorCase } from '../../vector-case.ts';

// TODO: write each case with \`allow\` or \`deny\` of vector-case.ts. They edit the scene of scene.ts, whose \`rp.profile\`
// must be the new profile.
export const cases: readonly VectorCase[] = [];
`;
