import type { DidWeb, Sha256 } from '@svc/protocol';
import { expect, it } from 'vitest';
import { EndedKeys } from './ended-keys.ts';

const did = 'did:web:shop.example' as DidWeb;
const hosted = (name: string, body = '{}', kind: 'hosted' | 'managed' = 'hosted') => ({
  ...{ did, kind },
  document: { hash: `sha256:${name}` as Sha256, body, resolvedAtMs: 0 },
});

it('a document is read once, however often it is requested; managed Principals and missing documents are not read', async () => {
  const read: string[] = [];
  const endedKeys = new EndedKeys((text) => {
    read.push(text);
    return new Map([['kid', 1]]);
  });
  for (let i = 0; i < 3; i++)
    for (const text of ['one', 'other'])
      expect((await endedKeys.find(hosted(text, text))).get('kid')).toBe(1);
  expect((await endedKeys.find(hosted('own', 'own', 'managed'))).size).toBe(0);
  expect((await endedKeys.find({ ...hosted('none'), document: null })).size).toBe(0);
  expect(read).toEqual(['one', 'other']);
});

it('other work gets a turn between two documents', async () => {
  let turns = 0;
  const turnsAt: number[] = [];
  const endedKeys = new EndedKeys(() => {
    turnsAt.push(turns);
    setImmediate(() => {
      turns += 1;
    });
    return new Map();
  });
  for (const name of ['a', 'b', 'c', 'd']) await endedKeys.find(hosted(name));
  expect(turnsAt).toEqual([0, 1, 2, 3]);
});

it('the memory of EndedKeys is bounded in bytes', async () => {
  const kids = Array.from({ length: 50 }, (_, i) => `${did}#${'k'.repeat(200)}-${i}`);
  const endedKeys = new EndedKeys(() => new Map(kids.map((kid) => [kid, 1])), 100_000);
  for (let i = 0; i < 20; i++) expect((await endedKeys.find(hosted(String(i)))).size).toBe(50);
  expect(endedKeys.size).toBeGreaterThan(50_000);
  expect(endedKeys.size).toBeLessThanOrEqual(100_000);
});

it('the end of a key is found under the absolute id of the key', async () => {
  const method = {
    ...{ id: '#key-1', type: 'Multikey', controller: did, revoked: '2026-01-02T03:04:05Z' },
    publicKeyMultibase: 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  };
  const body = JSON.stringify({ id: did, verificationMethod: [method], assertionMethod: ['#key-1'] });
  expect(await new EndedKeys().find(hosted('one', body))).toEqual(
    new Map([[`${did}#key-1`, Date.parse('2026-01-02T03:04:05Z')]]),
  );
});
