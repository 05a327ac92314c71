/** Writes a new check: its file, its place in the table, its vectors. */
import { createFile, insertAll, requireForm } from './files.ts';

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
      place: /^export const COMPARISONS[^\n]*\n/m,
      text: `  ${id}: () => one('TODO', 'TODO', 'TODO'),\n`,
    },
  ]);
  createFile(file, checkText(id, variable, words));
  createFile(cases, casesText(id));
  return [
    `${file}   what it requires, what it denies, where that is written`,
    `${FOLDER}/table.ts   put it into pipeline order: the order decides the reason of a DENY`,
    `${COMPARISONS}   what it holds against what, for dry runs`,
    'packages/protocol/src/model/reason-code.ts   a reason of its own: each belongs to one check',
    'packages/protocol/src/profiles/   a new profile, which alone has the check: the published ones are pinned by hash',
    'vectors/schema/evaluate.schema.json   by hand: the id in checkId and in the pattern of checks, the profile, the reason',
    `${cases}   an allow, a deny for each reason and a skip; then npm run vectors, before any test`,
    'docs/protocol.md §7 and §8   its row, the rule, the profile',
  ];
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
  // TODO one of its own: this is that of P15.
  reasons: ['ACTION_MALFORMED'],
  run: () => {
    throw new Error('check ${id} is not written yet');
  },
});
`;

const casesText = (id: string): string => `/** ${id}: TODO what these cases show (protocol §7). */
import type { VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [];
`;
