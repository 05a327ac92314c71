/**
 * Records of earlier versions, of SQL and of the log are read. A damaged record whose subject is known is not ignored.
 */
import type { DidKey, DidWeb, JsonObject, OrgId } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { keptOf, type LoggedRecord, nameOf, parseRecord } from './records.ts';

const principal = 'did:web:acme.example' as DidWeb;
const agent = 'did:key:z6Mk' as DidKey;
const ofRegistration = { principal, sinceMs: 5 };

const LOGGED: readonly LoggedRecord[] = [
  {
    ...{ kind: 'key', kid: `${principal}#key-1`, ...ofRegistration },
    ...{ state: 'compromised', publicKeyMultibase: 'z6Mk' },
  },
  { kind: 'agent', ...ofRegistration, agent },
  {
    ...{ kind: 'entitlement', orgId: 'org_1' as OrgId },
    push: {
      ...{
        production: 'blocked',
        productionUntilMs: null,
        checkCap: 7,
        capSinceMs: 1,
        reason: 'none',
        asOfMs: 9,
      },
    },
  },
  {
    ...{ kind: 'pause', scope: 'grant', owner: principal, subject: 'urn:svc:grant:1', isPaused: true },
    ...{ reason: null, changedAtMs: 8, sinceMs: 5 },
  },
];

describe('a logged record', () => {
  it.each(LOGGED)('is read as it was written: $kind', (record) => {
    expect(parseRecord(nameOf(record), keptOf(record))).toEqual(record);
  });

  it.each(LOGGED)(
    'is read with additional members, as SQL and later versions write them: $kind',
    (record) => {
      const kept = { ...keptOf(record), version: 3, later: {} };
      expect(parseRecord(nameOf(record), kept)).toEqual(record);
    },
  );

  it.each(LOGGED)('is read as null if nothing was there when it was copied: $kind', (record) => {
    expect(parseRecord(nameOf(record), {})).toBeNull();
  });
});

it.each<[string, JsonObject, object]>([
  ['api-key:key_1', {}, { kind: 'api-key', keyId: 'key_1' }],
  [
    'service-key:status-1',
    { public_key: 'z6Mk', ends: ['compromised', 'later'], version: 1 },
    { kind: 'service-key', kid: 'status-1', publicKeyMultibase: 'z6Mk', ends: ['compromised'] },
  ],
  [
    'unlisted:https://a.example/1 3',
    { url: 'https://a.example/1', bits: 'gA==', version: 1 },
    { kind: 'unlisted', id: 'https://a.example/1 3', url: 'https://a.example/1', bits: 'gA==' },
  ],
])('a record that only SQL writes is read: %s', (name, kept, record) => {
  const read = parseRecord(name, kept);
  expect(read).toEqual(record);
  expect(read === null ? null : nameOf(read)).toBe(name);
});

it('a key without its public key and a pause without its date, as earlier versions wrote them, are read', () => {
  expect(parseRecord('key:k', { principal, since_ms: 5, state: 'retired' })).toMatchObject({
    publicKeyMultibase: null,
  });
  const pause = { scope: 'org', owner: 'org_1', subject: 'org_1', is_paused: false, since_ms: 5 };
  expect(parseRecord('pause:org org_1 org_1', pause)).toMatchObject({ changedAtMs: null, reason: null });
});

it.each(['later:x', 'x', 'constructor:x'])('a record of an unknown kind is ignored: %s', (name) => {
  expect(parseRecord(name, { principal, since_ms: 5 })).toBeNull();
});

it.each<[string, JsonObject]>([
  ['agent:x', { principal, since_ms: 5, agent: 7 }],
  ['entitlement:org_1', { as_of_ms: 9, production: 'yes' }],
  ['service-key:status-1', { ends: ['retired'] }],
])('a damaged record of a known kind is refused: %s', (name, kept) => {
  expect(() => parseRecord(name, kept)).toThrow(`${name} beside the fence or in the log is damaged`);
});
