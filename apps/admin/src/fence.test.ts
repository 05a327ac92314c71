import { expect, it } from 'vitest';
import { describeFence } from './fence.ts';

const HEAD = { epoch: 1, seq: 7, nonce: 'n', atMs: Date.parse('2026-11-29T08:00:00Z') };
const [FORMER, DID] = ['did:web:former.example', 'did:web:svc.example'];

it('whoever looks at a fence of a former DID, which keeps decisions away, is told what begins it anew', () => {
  expect(describeFence(HEAD, true, FORMER, DID)).toMatch(
    /^The fence names beat 7 .*\nThe database has it\.\nIt is that of did:web:former\.example, .* svc-admin fence reset begins it anew under did:web:svc\.example/,
  );
  expect(describeFence(HEAD, true, DID, DID)).toMatch(/The database has it\.$/);
});

it('and where the database lacks what it names, of a restore alone, which a reset would leave undone', () => {
  for (const of of [FORMER, DID])
    expect(describeFence(HEAD, false, of, DID)).toMatch(/The database lacks it: run svc-admin restore\.$/);
});
