import { expect, it } from 'vitest';
import { describeSpan } from './restore.ts';

const SPAN = {
  head: { epoch: 1, seq: 7, nonce: 'n', atMs: Date.parse('2026-11-29T08:00:00Z') },
  ...{ tag: '7', lostFromMs: 0, lostUntilMs: 1_000, quarantinedUntilMs: 2_000, followsNames: true },
};

it('describeSpan warns of a former DID only if the fence is that of a former DID', () => {
  expect(describeSpan({ ...SPAN, formerDid: 'did:web:former.example' })).toMatch(
    /^The fence belongs to did:web:former\.example, a former DID .* --apply stops that service: name another place in SVC_FENCE\.\n/s,
  );
  expect(describeSpan({ ...SPAN, formerDid: null })).not.toContain('former');
});
