import {
  addressesReply,
  addressRecord,
  type DnsServer,
  type Question,
  RCODE,
  type Reply,
  startDnsServer,
} from '@svc/testkit/outbound/dns-server';
import type { Answer } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsPort, nodeDns } from './dns.ts';

const never = new AbortController().signal;
const PUBLIC = '93.184.215.14';
const chain = (name: string, last: Answer): Answer[] => [
  { type: 'CNAME', name, data: 'a.example', ttl: 0 },
  { type: 'CNAME', name: 'a.example', data: 'b.example', ttl: 0 },
  last,
];
const txt = (name: string, data: string[]): Answer => ({ type: 'TXT', name, data, ttl: 60 });

const zone: Record<string, (question: Question) => Reply> = {
  'both.example': (question) => addressesReply(question, [PUBLIC, '2606:2800:21f:cb07::1']),
  'four.example': (question) => addressesReply(question, [PUBLIC]),
  'half.example': (question) =>
    question.type === 'A' ? addressesReply(question, [PUBLIC]) : { rcode: RCODE.SERVFAIL },
  'half-absent.example': ({ type }) => (type === 'A' ? { answers: [] } : { rcode: RCODE.SERVFAIL }),
  'nodata.example': () => ({ answers: [] }),
  'nxdomain.example': () => ({ rcode: RCODE.NXDOMAIN }),
  'servfail.example': () => ({ rcode: RCODE.SERVFAIL }),
  'refused.example': () => ({ rcode: RCODE.REFUSED }),
  'notimp.example': () => ({ rcode: RCODE.NOTIMP }),
  'formerr.example': () => ({ rcode: RCODE.FORMERR }),
  'silence.example': () => 'silence',
  'garbage.example': () => 'garbage',
  'other.example': () => 'other-question',
  'truncated.example': (question) =>
    question.transport === 'udp' ? 'truncated' : addressesReply(question, [PUBLIC]),
  'truncated-hang-up.example': ({ transport }) => (transport === 'udp' ? 'truncated' : 'hang-up'),
  'cname.example': ({ name, type }) =>
    type === 'A' ? { answers: chain(name, addressRecord('b.example', PUBLIC)) } : { answers: [] },
  'dangling.example': ({ name }) => ({
    answers: [{ type: 'CNAME', name, data: 'gone.example', ttl: 60 }],
  }),
  '_svc-challenge.txt.example': ({ name }) => ({
    answers: [txt(name, ['svc-verification=', 'in two strings']), txt(name, ['another'])],
  }),
  '_svc-challenge.long.example': ({ name, transport }) =>
    transport === 'udp'
      ? 'truncated'
      : { answers: Array.from({ length: 100 }, (_, i) => txt(name, [`${i}`.padEnd(200, '.')])) },
  '_svc-challenge.cname.example': ({ name }) => ({ answers: chain(name, txt('b.example', ['followed'])) }),
};

const FAILURES = [
  'servfail',
  'refused',
  'notimp',
  'formerr',
  'silence',
  'garbage',
  'other',
  'truncated-hang-up',
];

describe('DNS against a real server', () => {
  let server: DnsServer;
  let dns: DnsPort;
  /** For answers that come late or never. */
  let hasty: DnsPort;

  beforeAll(async () => {
    server = await startDnsServer((question) => zone[question.name]?.(question) ?? { rcode: RCODE.NXDOMAIN });
    dns = nodeDns({ servers: [server.server], timeoutMs: 1_000 });
    hasty = nodeDns({ servers: [server.server], timeoutMs: 100 });
  });
  afterAll(() => server.close());

  it('returns the addresses of both families', async () => {
    expect(await dns.addresses('both.example', never)).toEqual({
      kind: 'addresses',
      addresses: [PUBLIC, '2606:2800:21f:cb07::1'],
    });
  });

  it.each(['four', 'truncated', 'cname'])('finds the address of %s.example', async (label) => {
    expect(await dns.addresses(`${label}.example`, never)).toEqual({
      kind: 'addresses',
      addresses: [PUBLIC],
    });
  });

  it('returns the addresses of one family with the failure of the other', async () => {
    expect(await dns.addresses('half.example', never)).toEqual({
      kind: 'addresses',
      addresses: [PUBLIC],
      failed: { kind: 'unreachable', fault: 'dns', why: 'DNS: ESERVFAIL' },
    });
  });

  it.each(['nodata', 'nxdomain', 'dangling'])('reports %s as absence', async (label) => {
    expect(await dns.addresses(`${label}.example`, never)).toEqual({ kind: 'absent' });
    expect(await dns.txt(`${label}.example`, never)).toEqual({ kind: 'absent' });
  });

  it.each(FAILURES)('reports %s as a failure, not as absence', async (label) => {
    const [addresses, records] = await Promise.all([
      hasty.addresses(`${label}.example`, never),
      hasty.txt(`${label}.example`, never),
    ]);
    expect(addresses).toMatchObject({ kind: 'unreachable', fault: 'dns' });
    expect(records).toMatchObject({ kind: 'unreachable', fault: 'dns' });
  });

  it('reports no IPv4 address with a failure for IPv6 as a failure', async () => {
    expect(await dns.addresses('half-absent.example', never)).toMatchObject({ fault: 'dns' });
  });

  it('reports a server that is down as a failure', async () => {
    const gone = await startDnsServer(() => 'silence');
    await gone.close();
    const dead = nodeDns({ servers: [gone.server], timeoutMs: 100 });
    expect(await dead.txt('both.example', never)).toMatchObject({ kind: 'unreachable', fault: 'dns' });
  });

  it('joins the strings of a TXT record and keeps records apart', async () => {
    expect(await dns.txt('_svc-challenge.txt.example', never)).toEqual({
      kind: 'records',
      records: ['svc-verification=in two strings', 'another'],
    });
  });

  it('reads TXT answers over TCP and behind a CNAME', async () => {
    const long = await dns.txt('_svc-challenge.long.example', never);
    expect(long.kind === 'records' && long.records.length).toBe(100);
    expect(await dns.txt('_svc-challenge.cname.example', never)).toEqual({
      kind: 'records',
      records: ['followed'],
    });
  });

  it('ends an unanswered question on abort', async () => {
    const controller = new AbortController();
    const patient = nodeDns({ servers: [server.server], timeoutMs: 60_000 });
    const answer = patient.txt('silence.example', controller.signal);
    controller.abort();
    expect(await answer).toMatchObject({ kind: 'unreachable', why: 'DNS: ECANCELLED' });
  });

  it('asks again every time, without a cache', async () => {
    const before = server.questions.length;
    await dns.addresses('four.example', never);
    await dns.addresses('four.example', never);
    const asked = server.questions.slice(before).filter(({ type }) => type === 'A');
    expect(asked.length).toBe(2);
  });
});
