import { readFileSync } from 'node:fs';
import { parseConfig } from '@svc/config';
import { expect, it } from 'vitest';
import { environmentOf } from './environment.ts';

const page = readFileSync(new URL('../../../../docs/guide/start/relying-party.md', import.meta.url), 'utf8');
const section = page.split('\n## ').find((part) => part.startsWith('From the demonstration to a hosted'));

const written = environmentOf(
  { baseUrl: 'http://localhost:8080', serviceDid: 'did:web:localhost%3A8080' },
  { agent: {} } as Parameters<typeof environmentOf>[1],
  { grant: 'a.b.c' } as Parameters<typeof environmentOf>[2],
);

it.each([
  ['the environment file of npm start', written.matchAll(/^(\w+)=/gm)],
  ['the section of the guide about a hosted service', section?.matchAll(/`(\w+)`/g) ?? []],
])('The service and svc-admin can be configured with the variables of %s', (_, found) => {
  const names = [...found].map(([, name = '']) => name).filter((name) => name.startsWith('SVC_'));
  expect(names).toEqual(expect.arrayContaining(['SVC_URL', 'SVC_DID', 'SVC_RP_KEY']));
  expect(parseConfig(Object.fromEntries(names.map((name) => [name, 'x'])))).toMatchObject({ ok: true });
});
