import { expect, it } from 'vitest';
import { describeFence } from './fence.ts';

const HEAD = { epoch: 1, seq: 7, nonce: 'n', atMs: Date.parse('2026-11-29T08:00:00Z') };
const [FORMER, DID] = ['did:web:former.example', 'did:web:svc.example'];

it('describeFence names svc-admin fence reset for a fence of a former DID', () => {
  expect(describeFence(HEAD, true, FORMER, DID)).toMatch(
    /^The fence names beat 7 .*\nThe database has it\.\nIt belongs to did:web:former\.example, .* svc-admin fence reset: it starts the fence anew under did:web:svc\.example/,
  );
  expect(describeFence(HEAD, true, DID, DID)).toMatch(/The database has it\.$/);
});

it('describeFence names only svc-admin restore if the database lacks the beat of the fence', () => {
  for (const of of [FORMER, DID])
    expect(describeFence(HEAD, false, of, DID)).toMatch(/The database lacks it: run svc-admin restore\.$/);
});
