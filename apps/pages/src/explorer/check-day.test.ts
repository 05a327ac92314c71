/** A day that was tampered with is refused, and the part that is wrong is named. */

import { encodeMultikey, portableCrypto, sha256Of } from '@svc/protocol';
import { signedDays } from '@svc/testkit/receipts/signed-days';
import { SERVICE, serviceDocument, signerOf } from '@svc/testkit/receipts/signed-receipts';
import { publicKeyOf } from '@svc/testkit/receipts/world';
import { signAttestation } from '@svc/transparency';
import { describe, expect, it } from 'vitest';
import type { Part } from '../shared/part.ts';
import type { Checkpoint } from '../shared/wire.ts';
import { checkDay, readService } from './check-day.ts';

const service = readService(JSON.stringify(serviceDocument));
const days = await signedDays();
const [dayBefore, day, otherDay] = [days[4], days[5], days[6]];
if (dayBefore === undefined || day === undefined || otherDay === undefined) throw new Error('there are days');

const wrong = (parts: readonly Part[]) => parts.filter(({ state }) => state === 'wrong').map(({ id }) => id);

describe('a day', () => {
  it('is valid as signed, after the day before', () => {
    for (const [i, { record }] of days.entries())
      expect(wrong(checkDay(record, days[i - 1]?.record ?? null, service))).toEqual([]);
  });

  const changes: readonly (readonly [string, string, Partial<Checkpoint>])[] = [
    ['another root', 'content', { root: otherDay.record.root }],
    ['another size', 'content', { tree_size: 7 }],
    ['another root of the day before', 'chain', { previous_root: otherDay.record.root }],
    ['an altered signature', 'signature', { checkpoint: `${day.record.checkpoint.slice(0, -4)}AAAA` }],
  ];
  it.each(changes)('with %s is refused: %s', (_, part, change) => {
    expect(wrong(checkDay({ ...day.record, ...change }, dayBefore.record, service))).toContain(part);
  });
});

describe('a day whose key has leaked since', () => {
  const next = {
    ...{ id: `${SERVICE}#status-2`, type: 'Multikey', controller: SERVICE },
    publicKeyMultibase: encodeMultikey(publicKeyOf(7)),
  };
  const leaked = readService(
    JSON.stringify({
      ...serviceDocument,
      verificationMethod: [
        ...serviceDocument.verificationMethod.map((one) => ({ ...one, revoked: '2026-12-01T00:00:00Z' })),
        next,
      ],
      assertionMethod: [...serviceDocument.assertionMethod, next.id],
    }),
  );
  const attest = (checkpoint: string, seed = 7, iat = Date.UTC(2026, 11, 2) / 1000) =>
    signAttestation(
      {
        ...{ iss: SERVICE, receipt_id: day.receiptIds[0] ?? '', receipt_hash: hashOf('any') },
        ...{ checkpoint_hash: hashOf(checkpoint), iat },
      },
      signerOf(seed, next.id),
    );
  const hashOf = (text: string) => sha256Of(portableCrypto, text);
  const states = (parts: readonly Part[]) => Object.fromEntries(parts.map(({ id, state }) => [id, state]));

  it('alone has its signature and content unchecked, not wrong', () => {
    const parts = checkDay(day.record, dayBefore.record, leaked);
    expect(states(parts)).toEqual({ signature: 'unchecked', content: 'unchecked', chain: 'ok' });
    expect(parts[0]?.failures).toMatchObject([{ code: 'key-not-in-force' }]);
  });

  it('is valid with the attestation of one of its Receipts by a key in force', async () => {
    const attestation = await attest(day.record.checkpoint);
    expect(states(checkDay(day.record, dayBefore.record, leaked, attestation))).toEqual({
      ...{ signature: 'ok', content: 'ok', chain: 'ok' },
    });
    const changed = { ...day.record, tree_size: 7 };
    expect(wrong(checkDay(changed, dayBefore.record, leaked, attestation))).toEqual(['content']);
  });

  it('is wrong where the attestation is of another checkpoint, too early or forged, or its own signature is broken', async () => {
    const other = await attest(otherDay.record.checkpoint);
    const forged = await attest(day.record.checkpoint, 8);
    const early = await attest(day.record.checkpoint, 7, Date.parse(`${day.record.day}T23:54:59Z`) / 1000);
    for (const attestation of [other, early, forged])
      expect(wrong(checkDay(day.record, null, leaked, attestation))).toEqual(['signature']);
    const broken = { ...day.record, checkpoint: `${day.record.checkpoint.slice(0, -4)}AAAA` };
    const own = await attest(broken.checkpoint);
    expect(wrong(checkDay(broken, null, leaked, own))).toEqual(['signature']);
  });
});

it('a day whose key the document does not have is unchecked: the document may be older', () => {
  const older = readService(JSON.stringify({ ...serviceDocument, verificationMethod: [] }));
  const [signature, content] = checkDay(day.record, dayBefore.record, older);
  expect([signature?.state, content?.state]).toEqual(['unchecked', 'unchecked']);
  expect(signature?.failures).toMatchObject([{ code: 'unknown-key' }]);
  const otherRoot = { ...day.record, previous_root: otherDay.record.root };
  expect(wrong(checkDay(otherRoot, dayBefore.record, older))).toEqual(['chain']);
});

it('readService refuses a malformed DID document', () => {
  expect(() => readService('{}')).toThrow('cannot be read');
});
