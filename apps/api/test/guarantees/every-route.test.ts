/** Every route has its test file, `endpoints/<area>/<operation id in kebab-case>.test.ts`, and every such file its route. */
import { readdirSync } from 'node:fs';
import { sep } from 'node:path';
import { areas } from '@svc/contract';
import { expect, it } from 'vitest';

const ENDPOINTS = new URL('../endpoints/', import.meta.url);

const kebabCase = (id: string): string => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

it('every route has a test file, and every test file belongs to a route', () => {
  const files = readdirSync(ENDPOINTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.replaceAll(sep, '/'));
  const expected = Object.entries(areas).flatMap(([area, routes]) =>
    Object.keys(routes).map((id) => `${area}/${kebabCase(id)}.test.ts`),
  );
  expect(files.sort()).toEqual(expected.sort());
});
