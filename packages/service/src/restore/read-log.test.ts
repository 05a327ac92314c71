import { expect, it } from 'vitest';
import { readRevocationLog } from './read-log.ts';

const line = (fields: object, msg = 'revocation') => JSON.stringify({ level: 30, time: 1, ...fields, msg });
const handOver = (atMs: number, fromOrg: unknown, toOrg: unknown, more: object = {}) =>
  line({
    ...{ did: 'did:web:a.example', kind: 'principal', since_ms: 1, at_ms: atMs },
    ...{ from_org: fromOrg, to_org: toOrg },
    ...more,
  });

it('puts what became of a DID into the order of its time, whichever node’s log it stands in', () => {
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

it('reads what shippers put before a line, and takes nothing from other events or from what is cut off', () => {
  const known = line({ principal: 'did:web:p.example', grant_ids: ['urn:1', 7] });
  const read = readRevocationLog([
    `2026-11-22T10:00:00Z node-1 ${known}`,
    line({ ended: 'agent:did:web:p.example did:key:z', kept: { since_ms: 1 } }),
    line({ key_id: 'key_1' }),
    line({ principal: 'did:web:p.example', kid: 'did:web:p.example#key-1' }),
    line({ key_id: 'key_2' }, 'a "revocation" of something else'),
    known.slice(0, -3),
    ...[{ did: 7 }, { kind: 'org' }, { since_ms: '1' }, { at_ms: null }, { from_org: 1 }, { to_org: {} }].map(
      (wrong) => handOver(10, null, 'org_a', wrong),
    ),
    line({ ended: 'agent:x', kept: 'x' }),
  ]);
  expect([...read.grants]).toEqual([['urn:1', 'did:web:p.example']]);
  expect([...read.apiKeys]).toEqual(['key_1']);
  expect([...read.compromisedKeys]).toEqual([['did:web:p.example#key-1', 'did:web:p.example']]);
  expect(read.ended).toEqual([{ name: 'agent:did:web:p.example did:key:z', kept: { since_ms: 1 } }]);
  expect(read.handedOver).toEqual([]);
});
