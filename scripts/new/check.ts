/** Writes a new check: its file, its places in the table, its vectors. */
import { createFile, insertAll, listFolder, requireForm } from './files.ts';

const FOLDER = 'packages/protocol/src/checks';
const TABLE = `${FOLDER}/table.ts`;

export const newCheck = (name: string): readonly string[] => {
  const [, letter = '', digits = '', words = ''] = requireForm(
    name,
    /^([pt])([0-9]{2})-([a-z]+(?:-[a-z]+)*)$/,
    'ID-NAME such as p21-resource-not-blocked: p of the protocol, t of trust',
  );
  const id = `${letter.toUpperCase()}${Number(digits)}`;
  const explained = `${letter}${digits}Explained`;
  const variable = name.replace(/-([a-z])/g, (_, first: string) => first.toUpperCase());
  requireFreeId(`${letter}${digits}`);
  const file = `${FOLDER}/${name}.ts`;
  const cases = `vectors/src/cases/${letter}${digits}/${words}.ts`;
  insertAll([
    {
      file: TABLE,
      place: letter === 'p' ? /(?:import \{ p[^\n]*\n)+/ : /(?:import \{ t[^\n]*\n)+/,
      text: `import { ${[explained, variable].sort().join(', ')} } from './${name}.ts';\n`,
    },
    {
      file: TABLE,
      place: /const BEFORE_SPENDING = \[\n(?: {2}\w+,\n)*/,
      text: `  ${variable},\n`,
    },
    {
      file: TABLE,
      place: /export const EXPLAINED[^\n]*\n(?: {2}(?!T5:)\w+: \w+,\n)*/,
      text: `  ${id}: ${explained},\n`,
    },
  ]);
  createFile(file, checkText(id, variable, explained, words));
  createFile(cases, casesText(id));
  return [
    `${file}   what it demands, requires and denies, where that is written, the profiles that run it, and what it compared`,
    `${TABLE}   put it into pipeline order: the order decides the reason of a DENY`,
    'packages/protocol/src/model/reason-code.ts   a reason of its own, with its text and its remedy: each belongs to one check',
    `${cases}   an allow, a deny for each reason and a skip; then npm run vectors, before any test`,
    'docs/protocol.md §7   its row, which moves those below it down, and the rule if the row does not say all',
    'vectors/src/random/   inputs under the new profile that the check denies',
    'examples/independent-engine/evaluate.mjs   the check',
    'packages/protocol/src/profiles/   published profiles leave the check out: unless there is a profile that is not yet published, npm run new -- profile, before the check compiles',
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
  explained: string,
  words: string,
): string => `/** ${id}: TODO what it requires, and what an attacker could do without it. */
import { defineCheck } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const ${variable} = /* @__PURE__ */ defineCheck({
  id: '${id}',
  title: 'TODO ${words.replaceAll('-', ' ')}',
  cites: ['interface §TODO', 'protocol §7'],
  // TODO the new profile; the published ones are pinned by hash and leave the check out.
  profiles: [],
  requires: [p03GrantSignature],
  // TODO a reason of its own: this is the reason of P15.
  reasons: ['ACTION_MALFORMED'],
  run: () => {
    throw new Error('check ${id} is not written yet');
  },
});

export const ${explained}: ExplanationOf<typeof ${variable}> = {
  compare: () => one('TODO', 'TODO', 'TODO'),
};
`;

const casesText = (id: string): string => `/** ${id}: TODO what these cases show (protocol §7). */
import type { VectorCase } from '../../vector-case.ts';

// TODO: write each case with \`allow\` or \`deny\` of vector-case.ts. They edit the scene of scene.ts, whose \`rp.profile\`
// must be the new profile.
export const cases: readonly VectorCase[] = [];
`;
