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
  const path = `/${area}/${kebabCase(id)}`;
  const test = `apps/api/test/endpoints/${area}/${kebabCase(id)}.test.ts`;
  insertAll([...declaration(area, id, path), endpoint(area, id), accessRow(id, path)]);
  createFile(test, testText(id, path));
  return [
    `packages/contract/src/areas/${area}.ts   declare ${id}: path, who may call, parameters, answers, errors`,
    `apps/api/src/endpoints/${area}.ts        map in, call the use case in packages/service/src/${area}/, map out`,
    'apps/api/test/guarantees/access-matrix/table.ts   say who is answered what',
    `${test}   prove it`,
    'npm run format, then npm run --prefix packages/contract openapi (docs/openapi.json) and npm run types',
  ];
};

const declaration = (area: string, id: string, path: string): readonly Insertion[] => {
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
    method: 'get',
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

const accessRow = (id: string, path: string): Insertion => ({
  file: 'apps/api/test/guarantees/access-matrix/table.ts',
  place: /export const TABLE: [^\n]*= \{\n/,
  text: `  ${id}: [
    {
      what: 'TODO: what the call names',
      outcomes: [401, 401, 401, 401, 401, 200, 401],
      call: () => ({ path: '${path}' }),
    },
  ],

`,
});

const testText = (id: string, path: string): string => `/** \`GET ${path}\` (interface §TODO). */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

it('${id}: TODO say what is guaranteed', async () => {
  await deployment.call('GET', '${path}');
  expect.fail('write the test of ${id}: what it answers, to whom, and what it refuses');
});
`;
