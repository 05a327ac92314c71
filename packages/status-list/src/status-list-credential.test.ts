import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildStatusEntry,
  buildStatusListCredential,
  createBitstring,
  encodeBitstring,
  parseStatusListCredential,
} from './index.ts';

const url = 'https://status.svc.example/acme.example/1';
const content = {
  id: url,
  issuer: 'did:web:svc.example',
  validFrom: '2026-11-20T08:00:00Z',
  encodedList: encodeBitstring(createBitstring()),
};
const credential = buildStatusListCredential(content);

describe('a status entry', () => {
  it('names its list and its index', () => {
    expect(buildStatusEntry({ credentialUrl: url, index: 94_567 })).toEqual({
      id: `${url}#94567`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: '94567',
      statusListCredential: url,
    });
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53])(
    'is not built with the index %d: a RangeError is thrown',
    (index) => {
      expect(() => buildStatusEntry({ credentialUrl: url, index })).toThrow(RangeError);
    },
  );
});

describe('a status list credential', () => {
  it('has the members of the specification, and a ttl of 30 seconds by default', () => {
    expect(credential).toEqual({
      '@context': ['https://www.w3.org/ns/credentials/v2'],
      id: url,
      type: ['VerifiableCredential', 'BitstringStatusListCredential'],
      issuer: 'did:web:svc.example',
      validFrom: '2026-11-20T08:00:00Z',
      credentialSubject: {
        id: `${url}#list`,
        type: 'BitstringStatusList',
        statusPurpose: 'revocation',
        encodedList: content.encodedList,
        ttl: 30_000,
      },
    });
  });

  it('is parsed to itself, with and without validUntil', () => {
    const ending = buildStatusListCredential({
      ...content,
      validUntil: '2026-11-20T08:01:00.250Z',
      ttlMs: 1,
    });
    for (const built of [credential, ending]) expect(parseStatusListCredential(built)).toEqual(built);
  });

  const subject = credential.credentialSubject;
  const without = (member: string): unknown =>
    Object.fromEntries(Object.entries(credential).filter(([name]) => name !== member));
  it.each<[string, unknown]>([
    ['null', null],
    ['an array', [credential]],
    ['text', JSON.stringify(credential)],
    ['an unknown member', { ...credential, exp: 1 }],
    ...Object.keys(credential).map((member): [string, unknown] => [`no ${member}`, without(member)]),
    ['another context', { ...credential, '@context': ['https://www.w3.org/2018/credentials/v1'] }],
    ['one more context', { ...credential, '@context': [...credential['@context'], 'https://x.example'] }],
    ['a Grant', { ...credential, type: ['VerifiableCredential', 'SvcGrant'] }],
    ['types in another order', { ...credential, type: [...credential.type].reverse() }],
    ['an issuer object', { ...credential, issuer: { id: 'did:web:svc.example' } }],
    ['an impossible date', { ...credential, validFrom: '2026-13-20T08:00:00Z' }],
    ['30 February', { ...credential, validFrom: '2026-02-30T08:00:00Z' }],
    ['an end on 30 February', { ...credential, validUntil: '2026-02-30T08:00:00.5Z' }],
    ['a date with an offset', { ...credential, validFrom: '2026-11-20T08:00:00+01:00' }],
    ['an ill-typed end', { ...credential, validUntil: null }],
    ['several subjects', { ...credential, credentialSubject: [subject] }],
    ['an unknown subject member', { ...credential, credentialSubject: { ...subject, statusSize: 2 } }],
    ['another purpose', { ...credential, credentialSubject: { ...subject, statusPurpose: 'suspension' } }],
    ['several purposes', { ...credential, credentialSubject: { ...subject, statusPurpose: ['revocation'] } }],
    ['another subject id', { ...credential, credentialSubject: { ...subject, id: `${url}#other` } }],
    ['another subject type', { ...credential, credentialSubject: { ...subject, type: 'StatusList2021' } }],
    ['a list that is no text', { ...credential, credentialSubject: { ...subject, encodedList: 7 } }],
    ['a negative ttl', { ...credential, credentialSubject: { ...subject, ttl: -1 } }],
    ['a fractional ttl', { ...credential, credentialSubject: { ...subject, ttl: 0.5 } }],
    ['a ttl in text', { ...credential, credentialSubject: { ...subject, ttl: '30000' } }],
  ])('is refused if it is or has %s', (_, payload) => {
    expect(parseStatusListCredential(payload)).toBeNull();
  });

  it('is parsed from any value without an exception, and only from own members', () => {
    fc.assert(fc.property(fc.anything(), (payload) => void parseStatusListCredential(payload)));
    expect(parseStatusListCredential(Object.create(credential))).toBeNull();
  });
});
