/** Facts that differ in one member from what the tokens name. */
import { getVector } from '@svc/vectors/src/published.ts';
import { expect, it } from 'vitest';
import { contextOf, factsOf } from '../../test/facts-of.ts';
import { evaluate, parsePresented } from '../evaluate.ts';
import { found } from '../facts.ts';
import { nativeCrypto } from '../native.ts';

const { input } = getVector('allow-purchase');
const facts = factsOf(input, nativeCrypto);
const context = contextOf(input, nativeCrypto);
const presented = parsePresented(input);
if (!presented.grant.ok || facts.document.answer !== 'found') throw new Error('the vector is an ALLOW');
const { value: grant } = presented.grant;
const { value: document } = facts.document;

it.each([
  ['list', { statusListCredential: 'https://status.svc.example/mallory.example/1' }],
  ['index', { statusListIndex: '1' }],
  ['id', { id: 'https://status.svc.example/mallory.example/1#1' }],
])(
  'a Grant whose status entry has another %s than the allocated one is denied with AUTHORITY_REVOKED (P6)',
  (_, other) => {
    const status = { ...grant.status, ...other };
    const altered = {
      ...presented,
      grant: { ...presented.grant, value: { ...grant, status } },
    } as typeof presented;
    expect(evaluate(presented, facts, context)).toMatchObject({ decision: 'ALLOW' });
    expect(evaluate(altered, facts, context)).toMatchObject({
      decision: 'DENY',
      reason: 'AUTHORITY_REVOKED',
      outcomes: { P3: true, P6: false },
    });
  },
);

it('a DID document of another subject is denied with ISSUER_KEY_NOT_FOUND, whatever keys it lists (P2)', () => {
  const other = { ...document.document, id: 'did:web:mallory.example' } as typeof document.document;
  const altered = { ...facts, document: found({ ...document, document: other }) };
  expect(evaluate(presented, altered, context)).toMatchObject({
    decision: 'DENY',
    reason: 'ISSUER_KEY_NOT_FOUND',
    outcomes: { P2: false, P3: 'skipped' },
  });
});
