import { readRevocationLog } from '@svc/testkit/store/read-revocation-log';
import { describe, expect, it } from 'vitest';
import { RevocationLog } from './read-log.ts';

const line = (fields: object, msg = 'revocation') => JSON.stringify({ level: 30, time: 1, ...fields, msg });
const handOver = (atMs: number, fromOrg: unknown, toOrg: unknown, more: object = {}) =>
  line({
    ...{ did: 'did:web:a.example', kind: 'principal', since_ms: 1, at_ms: atMs },
    ...{ from_org: fromOrg, to_org: toOrg },
    ...more,
  });
const known = line({ principal: 'did:web:p.example', grant_ids: ['urn:1', 'urn:2'] });

/** The result of reading one file, and its Grants. */
const read = (lines: readonly string[]) => {
  const log = new RevocationLog();
  const file = log.open();
  for (const one of lines) file.read(one);
  return { ...file.end(), grants: [...log.found().grants.keys()] };
};
const ALL_READ = { revocations: 1, fault: null, grants: ['urn:1', 'urn:2'] };

it('readRevocationLog orders the transfers of a DID by at_ms, whatever the order of the lines', () => {
  const { handedOver } = readRevocationLog([
    handOver(30, 'org_b', 'released'),
    handOver(20, 'org_a', 'org_b'),
    handOver(10, null, 'org_a'),
  ]);
  expect(handedOver.map(({ atMs, fromOrg, toOrg }) => [atMs, fromOrg, toOrg])).toEqual([
    [10, null, 'org_a'],
    [20, 'org_a', 'org_b'],
    [30, 'org_b', 'released'],
  ]);
});

it('readRevocationLog orders what has ended by the times of the lines, whatever their order', () => {
  const ended = (time: string, asOfMs: number) =>
    line({ time, ended: 'entitlement:org_a', kept: { as_of_ms: asOfMs } });
  const found = readRevocationLog([
    ended('2026-11-22T10:00:00.200Z', 2),
    ended('2026-11-22T10:00:00.300Z', 3),
    ended('2026-11-22T10:00:00.100Z', 1),
  ]);
  expect(found.ended.map(({ kept }) => kept.as_of_ms)).toEqual([1, 2, 3]);
});

it('readRevocationLog takes what each revocation says, and nothing from other lines', () => {
  const found = readRevocationLog([
    known,
    line({ ended: 'agent:did:web:p.example did:key:z', kept: { since_ms: 1 } }),
    line({ key_id: 'key_1' }),
    line({ principal: 'did:web:p.example', kid: 'did:web:p.example#key-1' }),
    line({ key_id: 'key_2' }, 'a "revocation" of something else'),
    'not a line of the service',
  ]);
  expect([...found.grants]).toEqual([
    ['urn:1', 'did:web:p.example'],
    ['urn:2', 'did:web:p.example'],
  ]);
  expect([...found.apiKeys]).toEqual(['key_1']);
  expect([...found.compromisedKeys]).toEqual([['did:web:p.example#key-1', 'did:web:p.example']]);
  expect(found.ended).toEqual([{ name: 'agent:did:web:p.example did:key:z', kept: { since_ms: 1 } }]);
  expect(found.handedOver).toEqual([]);
});

const docker = (log: string, stream = 'stdout') =>
  JSON.stringify({ log, stream, time: '2026-11-22T10:00:00.1Z' });
const cri = (part: 'F' | 'P', text: string, stream = 'stdout') =>
  `2026-11-22T10:00:00.1Z ${stream} ${part} ${text}`;
const middle = known.indexOf('urn:2');
const [head, tail] = [known.slice(0, middle), known.slice(middle)];

describe('a revocation is read', () => {
  it.each<[string, string[]]>([
    ['as it was written', [known]],
    ['behind a time and a name', [`2026-11-22T10:00:00Z node-1 ${known}`]],
    ['behind braces', [`{app="svc"} ${known}`]],
    ['behind an object', [`{"app":"svc","pod":{"name":"api-1"}} ${known}`]],
    ['with a Windows line end', [`${known}\r`]],
    ['from Docker', [docker(`${known}\n`)]],
    [
      'from Docker in parts, the other stream between them',
      [docker(head), docker('x\n', 'stderr'), docker(`${tail}\n`)],
    ],
    ['from Docker by a shipper that drops line ends', [docker('starting'), docker(known)]],
    ['from Kubernetes', [cri('F', known)]],
    ['from Kubernetes in parts', [cri('P', head), cri('F', 'x', 'stderr'), cri('F', tail)]],
    ['from journald', [JSON.stringify({ PRIORITY: '6', MESSAGE: known })]],
    ['from journald as bytes', [JSON.stringify({ MESSAGE: [...Buffer.from(known)] })]],
    ['from a shipper that names the field message', [JSON.stringify({ '@timestamp': 1, message: known })]],
    ['from a shipper that names the field line', [JSON.stringify({ labels: { app: 'svc' }, line: known })]],
    ['from a shipper that names the field msg', [JSON.stringify({ msg: known })]],
  ])('%s', (_, lines) => {
    expect(read(lines)).toMatchObject(ALL_READ);
  });
});

describe('a file is refused, and the line named, if it has a revocation', () => {
  it.each<[string, string[], string]>([
    ['cut off', ['x', known.slice(0, -3)], 'line 2 has a revocation that is cut off'],
    ['without its beginning', [docker(`${tail}\n`)], 'line 1 has a revocation that is cut off'],
    ['without its end', [docker(head)], 'its end has a revocation that is cut off'],
    ['followed by other text', [`${known} x`], 'line 1 has a revocation that is cut off'],
    [
      'in an object of unknown form',
      [JSON.stringify({ _source: { text: known } })],
      'line 1 has a revocation',
    ],
    [
      'taken apart by a shipper',
      [JSON.stringify({ message: 'revocation', key_id: 'key_1' })],
      'line 1 has a revocation',
    ],
    [
      'left out by journalctl',
      [JSON.stringify({ MESSAGE: null })],
      'line 1 has a message that journalctl left out',
    ],
    [
      'of a later version',
      [line({ thing: 1 })],
      'line 1 has a revocation of a kind that this version does not know',
    ],
    ['with an invalid id', [line({ principal: 'did:web:p.example', grant_ids: ['urn:1', 7] })], 'line 1'],
    ['whose kept fields are invalid', [line({ ended: 'agent:x', kept: 'x' })], 'line 1'],
    ...[{ did: 7 }, { kind: 'org' }, { since_ms: '1' }, { at_ms: null }, { from_org: 1 }, { to_org: {} }].map(
      (wrong): [string, string[], string] => [
        `of a DID with ${JSON.stringify(wrong)}`,
        [handOver(10, null, 'org_a', wrong)],
        'line 1',
      ],
    ),
  ])('%s', (_, lines, fault) => {
    const one = read(lines);
    expect(one).toMatchObject({ grants: [], fault: expect.stringContaining(fault) });
    expect(() => readRevocationLog(lines)).toThrow(fault);
  });
});

it('lines of the service are counted, and are 0 in a file of something else', () => {
  expect(read([known, line({}, 'request'), 'x', docker(`${line({}, 'request')}\n`)])).toMatchObject({
    ...{ lines: 3, revocations: 1 },
  });
  const others = ['', '{"a":1}', '\u001f\u008b\u0008\u0000', docker('starting\n'), docker('no end')];
  expect(read(others)).toEqual({ lines: 0, revocations: 0, fault: null, grants: [] });
});

/** A line about a request as the API writes it, with a duration that has a fraction. */
const request = JSON.stringify({ level: 30, time: 1, route: 'verify', durationMs: 12.345, msg: 'request' });

it('a file with only lines about requests counts as one of the service', () => {
  expect(read([request, request])).toMatchObject({ lines: 2, revocations: 0, fault: null });
});

it('a revocation is read after a hundred requests without line ends, and beside a number with a fraction', () => {
  const shipped = [...Array.from({ length: 100 }, () => request), known].map((one) => docker(one));
  expect(read(shipped)).toMatchObject(ALL_READ);
  expect(read([JSON.stringify({ date: 1_764_000_000.123_456, log: `${known}\n` })])).toMatchObject(ALL_READ);
});

it.each([
  ['parts of a container', [docker(head), docker(`${request}\n`)]],
  ['a file', [head + request]],
])('a revocation that breaks off in %s is a fault, even if the next line follows it directly', (_, cut) => {
  expect(read(cut)).toMatchObject({ revocations: 0, fault: expect.stringContaining('cut off') });
});
