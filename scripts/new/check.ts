/** A check: its file, its line in the table, what it proves. */
import { createFile, insertAll, requireForm } from './files.ts';

const FOLDER = 'packages/protocol/src/checks';

export const newCheck = (name: string): readonly string[] => {
  const [, letter = '', digits = '', words = ''] = requireForm(
    name,
    /^([pt])([0-9]{2})-([a-z]+(?:-[a-z]+)*)$/,
    'ID-NAME such as p21-resource-not-blocked: p of the protocol, t of trust',
  );
  const id = `${letter.toUpperCase()}${Number(digits)}`;
  const variable = name.replace(/-([a-z])/g, (_, first: string) => first.toUpperCase());
  const file = `${FOLDER}/${name}.ts`;
  insertAll([
    {
      file: `${FOLDER}/check.ts`,
      place: /export interface Evidence \{[\s\S]*?(?=\n\})/,
      text: `\n  ${id}: null;`,
    },
    {
      file: `${FOLDER}/table.ts`,
      place: /(?:import \{ [^\n]*\n)+(?=\n)/,
      text: `import { ${variable} } from './${name}.ts';\n`,
    },
    {
      file: `${FOLDER}/table.ts`,
      place: /export const CHECKS[^\n]*= \[\n(?: {2}\w+,\n)*/,
      text: `  ${variable},\n`,
    },
    {
      file: 'vectors/src/cases/order.ts',
      place: /(?: {2}P20: [^\n]*\n(?: {2}P2[1-9]: [^\n]*\n)*)/,
      text: `  ${id}: ['ACTION_MALFORMED', () => {}],\n`,
    },
  ]);
  createFile(file, checkText(id, variable, words));
  return [
    `${file}   what it requires, what it denies, by which document`,
    `${FOLDER}/table.ts   put it into pipeline order: the order decides the reason of a DENY`,
    `vectors/src/cases/order.ts   what makes the check false`,
    `vectors/src/cases/   an allow, a deny and, if it requires anything, a skip; then npm run vectors`,
    `docs/protocol.md §7   the rule`,
  ];
};

const checkText = (
  id: string,
  variable: string,
  words: string,
): string => `/** ${id}: TODO what it requires, and what an attacker could do without it. */
import { defineCheck } from './check.ts';

export const ${variable} = /* @__PURE__ */ defineCheck({
  id: '${id}',
  title: 'TODO ${words.replaceAll('-', ' ')}',
  requires: ['P3'],
  reasons: ['ACTION_MALFORMED'],
  run: () => {
    throw new Error('check ${id} is not written yet');
  },
});
`;
