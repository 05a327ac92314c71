import type { DidWeb } from '@svc/protocol';
import { addressesReply, RCODE, type Reply, startDnsServer } from '@svc/testkit/outbound/dns-server';
import { closedEndpoint, startHttpHost } from '@svc/testkit/outbound/hosts';
import { type Page, type ServedHost, startServedHost } from '@svc/testkit/outbound/served';
import { addresses, HOST_ADDRESS, tableDns, worldOf } from '@svc/testkit/outbound/world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AddressAnswer } from '../src/dns.ts';
import { checkDomainProof, createOutbound, nodeDns } from '../src/index.ts';

const TOKEN = 'tNvW3-kQ_9fRzXb1LmCyHs4aUoEe7dPj';
const DID = 'did:web:acme.example' as DidWeb;
const CLAIM = { did: DID, domain: 'acme.example', token: TOKEN };
const PAGE = 'acme.example/.well-known/svc-verification.json';
const TXT_NAME = '_svc-challenge.acme.example';
const RECORD = `svc-verification=${TOKEN}`;
const BODY = JSON.stringify({ did: DID, token: TOKEN });

let served: ServedHost;
beforeAll(async () => {
  served = await startServedHost(['acme.example']);
});
afterAll(() => served.host.close());
beforeEach(() => served.pages.clear());

type Txt = readonly string[] | 'absent' | 'failure';
type WellKnown = Page | 'closed' | AddressAnswer;

/** The verdict on acme.example for these answers of its two places. */
const judge = async (txt: Txt, wellKnown: WellKnown, claim = CLAIM) => {
  const txtAnswer =
    txt === 'absent'
      ? ({ kind: 'absent' } as const)
      : txt === 'failure'
        ? ({ kind: 'unreachable', fault: 'dns', why: 'DNS: ESERVFAIL' } as const)
        : ({ kind: 'records', records: txt } as const);
  const isDns = typeof wellKnown === 'object' && 'kind' in wellKnown;
  if (typeof wellKnown === 'object' && !('kind' in wellKnown)) served.pages.set(PAGE, wellKnown);
  const endpoint = wellKnown === 'closed' ? await closedEndpoint() : served.host.endpoint;
  const dns = tableDns(
    { 'acme.example': isDns ? wellKnown : addresses(HOST_ADDRESS) },
    { [TXT_NAME]: txtAnswer },
  );
  const { outbound } = worldOf(served.authority.ca, { [HOST_ADDRESS]: endpoint }, { dns });
  return checkDomainProof(outbound, claim);
};

const NOT_FOUND: Page = { status: 404 };
const SERVER_FAILURES: [string, WellKnown][] = [
  ...[408, 425, 429, 500, 502, 503, 504].map((status): [string, Page] => [
    `${status}`,
    { status, body: BODY },
  ]),
  ['a refused connection', 'closed'],
  ['a DNS failure', { kind: 'unreachable', fault: 'dns', why: 'DNS: ETIMEOUT' }],
  ['an address inside', addresses('192.168.1.1')],
  ['a coding', { body: BODY, headers: { 'content-encoding': 'br' } }],
  ['half an answer', { body: BODY, headers: { 'content-length': '1000' } }],
];
const POSITIVE_ABSENCES: [string, WellKnown][] = [
  ...[204, 301, 302, 307, 400, 401, 403, 404, 410].map((status): [string, Page] => [
    `${status}`,
    { status, body: status === 204 ? '' : BODY },
  ]),
  ['a name without an address', { kind: 'absent' }],
  ['a large page', { body: 'x'.repeat(70_000) }],
  ['another page', { body: '<!doctype html>' }],
];

describe('a domain is proven', () => {
  it('by the TXT record alone, whatever the well-known document does', async () => {
    for (const wellKnown of [NOT_FOUND, { status: 500 }, 'closed'] as const)
      expect(await judge([RECORD], wellKnown)).toBe('proven');
    expect(await judge(['v=spf1 -all', RECORD, 'svc-verification=old'], NOT_FOUND)).toBe('proven');
  });

  it('by the well-known document alone, whatever the TXT record does', async () => {
    for (const txt of ['absent', 'failure', ['svc-verification=old']] as const)
      expect(await judge(txt, { body: BODY })).toBe('proven');
    expect(await judge('absent', { body: ` {"token":"${TOKEN}",\n"did":"${DID}"}\n` })).toBe('proven');
  });

  it('for a path DID only by the whole DID, so no tenant of a shared host proves another', async () => {
    const claim = { ...CLAIM, did: 'did:web:acme.example:tenants:a' as DidWeb };
    const body = (did: string) => ({ body: JSON.stringify({ did, token: TOKEN }) });
    expect(await judge('absent', body(claim.did), claim)).toBe('proven');
    expect(await judge('absent', body('did:web:acme.example:tenants:b'), claim)).toBe('absent');
    expect(await judge('absent', body(DID), claim)).toBe('absent');
    expect(await judge('absent', body(claim.did), CLAIM)).toBe('absent');
  });
});

it('a list proves the DID that it names with its token, and its other items prove nothing', async () => {
  const other = { did: 'did:web:acme.example:other', token: 'other' };
  const own = { did: DID, token: TOKEN };
  for (const body of [[own], [other, own], [own, other], [null, 'x', { ...own, more: 1 }, own]])
    expect(await judge('absent', { body: JSON.stringify(body) })).toBe('proven');
  for (const body of [
    [],
    [other],
    [
      { ...own, token: other.token },
      { ...other, token: TOKEN },
    ],
    [{ ...own, more: 1 }],
  ])
    expect(await judge('absent', { body: JSON.stringify(body) })).toBe('absent');
});

describe('a domain is not proven', () => {
  it.each([
    ...[TOKEN, `svc-verification=${TOKEN} `, ` ${RECORD}`, `${RECORD}x`, RECORD.slice(0, -1), ''],
    ...[
      RECORD.toUpperCase(),
      `svc-verification="${TOKEN}"`,
      `svc-verification:${TOKEN}`,
      'svc-verification=',
    ],
  ])('by the TXT record %j', async (record) => {
    expect(await judge([record], NOT_FOUND)).toBe('absent');
  });

  it.each([
    JSON.stringify({ did: DID }),
    JSON.stringify({ token: TOKEN }),
    JSON.stringify({ did: DID, token: `${TOKEN}x` }),
    JSON.stringify({ did: 'did:web:other.example', token: TOKEN }),
    JSON.stringify({ did: DID, token: TOKEN, more: 1 }),
    JSON.stringify({ did: [DID], token: TOKEN }),
    JSON.stringify([[{ did: DID, token: TOKEN }]]),
    JSON.stringify({ 'did,token': 1 }),
    `{"__proto__":${BODY}}`,
    `{"did":"${DID}","token":"x","token":"${TOKEN}"}`,
    `\ufeff${BODY}`,
    `${BODY}${BODY}`,
    `${BODY.slice(0, -1)},}`,
    'null',
    '',
  ])('by the document %j', async (body) => {
    expect(await judge('absent', { body })).toBe('absent');
  });
});

describe('a proof is absent only with a positive answer from both places:', () => {
  it.each(POSITIVE_ABSENCES)('no TXT record, and %s: absent', async (_title, wellKnown) => {
    expect(await judge('absent', wellKnown)).toBe('absent');
    expect(await judge(['svc-verification=old'], wellKnown)).toBe('absent');
  });

  it.each(POSITIVE_ABSENCES)('a DNS failure for TXT, and %s: unknown', async (_title, wellKnown) => {
    expect(await judge('failure', wellKnown)).toBe('unknown');
  });

  it.each(SERVER_FAILURES)('no TXT record, and %s: unknown', async (_title, wellKnown) => {
    expect(await judge('absent', wellKnown)).toBe('unknown');
  });

  it('failures in both places: unknown', async () => {
    for (const [, wellKnown] of SERVER_FAILURES) expect(await judge('failure', wellKnown)).toBe('unknown');
  });
});

describe('with a real resolver, the verdict follows', () => {
  it.each<[string, Reply, string]>([
    [
      'the record',
      { answers: [{ type: 'TXT', name: TXT_NAME, data: ['svc-verification=', TOKEN], ttl: 0 }] },
      'proven',
    ],
    [
      'the record behind an alias',
      {
        answers: [
          { type: 'CNAME', name: TXT_NAME, data: 'proofs.example', ttl: 0 },
          { type: 'TXT', name: 'proofs.example', data: [RECORD], ttl: 0 },
        ],
      },
      'proven',
    ],
    [
      'a dangling alias',
      { answers: [{ type: 'CNAME', name: TXT_NAME, data: 'gone.example', ttl: 0 }] },
      'absent',
    ],
    ['NXDOMAIN', { rcode: RCODE.NXDOMAIN }, 'absent'],
    ['SERVFAIL', { rcode: RCODE.SERVFAIL }, 'unknown'],
    ['silence', 'silence', 'unknown'],
    ['garbage', 'garbage', 'unknown'],
  ])('%s', async (_title, reply, verdict) => {
    const server = await startDnsServer((question) =>
      question.name === TXT_NAME ? reply : addressesReply(question, [HOST_ADDRESS]),
    );
    // Short where the test waits for a missing answer; long enough where an answer comes.
    const timeoutMs = verdict === 'unknown' ? 100 : 1_000;
    const dns = nodeDns({ servers: [server.server], timeoutMs });
    const { outbound } = worldOf(served.authority.ca, { [HOST_ADDRESS]: served.host.endpoint }, { dns });
    expect(await checkDomainProof(outbound, CLAIM)).toBe(verdict);
    await server.close();
  });
});

describe('in development', () => {
  it('the outbound map provides the TXT records and the host', async () => {
    let body = '{}';
    const local = await startHttpHost((_request, response) => void response.end(body));
    const claim = { did: 'did:web:acme.test%3A8443' as DidWeb, domain: 'acme.test%3A8443', token: TOKEN };
    const hosts = { 'acme.test': `http://127.0.0.1:${local.endpoint.port}` };
    const check = (txt: Record<string, string[]>) =>
      checkDomainProof(createOutbound({ mode: 'development', outboundMap: { hosts, txt } }), claim);
    expect(await check({})).toBe('absent');
    expect(await check({ '_svc-challenge.acme.test': [RECORD] })).toBe('proven');
    body = JSON.stringify({ did: claim.did, token: TOKEN });
    expect(await check({})).toBe('proven');
    await local.close();
  });
});

it('checkDomainProof throws a RangeError for a domain that is not the DID’s, an empty token, or another DID method', async () => {
  const { outbound } = worldOf(served.authority.ca, {});
  for (const claim of [
    { ...CLAIM, domain: 'other.example' },
    { ...CLAIM, token: '' },
    { ...CLAIM, did: 'did:key:z6Mk' as DidWeb },
  ])
    await expect(checkDomainProof(outbound, claim)).rejects.toThrow(RangeError);
});
