/** Writes a new route: its declaration, an empty endpoint, its row in the access table, and its test. */
import { createFile, type Insertion, insertAll, listFolder, requireForm } from './files.ts';

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const newRoute = (name: string): readonly string[] => {
  const [, area = '', id = ''] = requireForm(
    name,
    /^([a-z]+(?:-[a-z]+)*)\/([a-z]+(?:[A-Z][a-z]*)+)$/,
    'AREA/NAME such as orgs/listNotes: an area of the contract and an operation id that begins with its verb',
  );
  const areas = listFolder('packages/contract/src/areas').map((file) => file.replace('.ts', ''));
  if (!areas.includes(area))
    throw new Error(`${area}: is no area of the contract; there are ${areas.join(', ')}`);
  const method = methodOf(id);
  const path = `/${area}/${kebabCase(id)}`;
  const test = `apps/api/test/endpoints/${area}/${kebabCase(id)}.test.ts`;
  insertAll([...declaration(area, id, method, path), endpoint(area, id), accessRow(id, path)]);
  createFile(test, testText(id, method, path));
  return [
    `packages/contract/src/areas/${area}.ts   declare ${id}: method, path, who may call, parameters, answers, errors`,
    `packages/service/src/${area}/${kebabCase(id)}.ts   the use case; export it from index.ts`,
    `apps/api/src/endpoints/${area}.ts   map in, call the use case, map out`,
    'apps/api/test/guarantees/access-matrix/table.ts   who is answered what; the columns are named above the table',
    `${test}   prove it`,
    ...(method === 'get'
      ? []
      : ['apps/api/src/endpoints/limit-newcomers.test.ts   whether it counts for an org without a plan']),
    'docs/protocol.md   its row in §13; in docs/divergences.md too, if the interface does not have it',
    'npm run format, then npm run --prefix packages/contract openapi (docs/openapi.json) and npm run types',
  ];
};

const METHODS: ReadonlyMap<string, string> = new Map([
  ...['get', 'list', 'export'].map((verb) => [verb, 'get'] as const),
  ...['put', 'replace'].map((verb) => [verb, 'put'] as const),
  ['update', 'patch'],
  ['delete', 'delete'],
]);

/** The method by the verb with which the id begins. */
export const methodOf = (id: string): string => METHODS.get(/^[a-z]+/.exec(id)?.[0] ?? '') ?? 'post';

const declaration = (area: string, id: string, method: string, path: string): readonly Insertion[] => {
  const file = `packages/contract/src/areas/${area}.ts`;
  return [
    {
      file,
      place: /^\/\*\*[\s\S]*?\*\/\n/,
      text: "import { z } from 'zod';\n",
      unless: "from 'zod'",
    },
    {
      file,
      place: /export const \w+Routes = \{\n/,
      text: `  ${id}: defineRoute({
    method: '${method}',
    path: '${path}',
    tag: 'TODO',
    summary: 'TODO: what it does, in five words',
    description: 'TODO: what it answers, to whom, and what is certain when it has.',
    auth: ['admin'],
    limiter: 'authenticated',
    responses: { 200: json(z.strictObject({}), 'TODO') },
    errors: {},
  }),

`,
    },
  ];
};

const endpoint = (area: string, id: string): Insertion => ({
  file: `apps/api/src/endpoints/${area}.ts`,
  place: new RegExp(`HandlersOf<'${area}'> => (?:\\(\\{\\n|\\{\\n[\\s\\S]*?  return \\{\\n)`),
  text: `  ${id}: async () => {
    throw new Error('${id} is not written yet');
  },

`,
});

/** No call is answered 0, so the row fails whichever class of caller a sample asks as. */
const accessRow = (id: string, path: string): Insertion => ({
  file: 'apps/api/test/guarantees/access-matrix/table.ts',
  place: /export const TABLE: [^\n]*= \{\n/,
  text: `  ${id}: [
    {
      what: 'TODO: what the call names',
      outcomes: [0, 0, 0, 0, 0, 0, 0],
      call: () => ({ path: '${path}' }),
    },
  ],

`,
});

const testText = (
  id: string,
  method: string,
  path: string,
): string => `/** \`${method.toUpperCase()} ${path}\` (interface §TODO). */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

it('${id}: TODO say what is guaranteed', async () => {
  await deployment.call('${method.toUpperCase()}', '${path}');
  expect.fail('write the test of ${id}: what it answers, to whom, and what it refuses');
});
`;
