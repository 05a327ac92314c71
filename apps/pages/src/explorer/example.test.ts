import { signedDays } from '@svc/testkit/receipts/signed-days';
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { expect, it } from 'vitest';
import { checkDay, readService } from './check-day.ts';
import { checkInclusion } from './check-inclusion.ts';
import example from './example.json';
import { EXAMPLE, EXAMPLE_DOCUMENT, isOfExample } from './log.ts';

it('the example is two signed days with the proofs of the Receipts that it links to', async () => {
  const [first, second] = await signedDays();
  if (first === undefined || second === undefined) throw new Error('there are eleven');
  const proofs = [first, second].flatMap(({ receiptIds, proofOf }) =>
    [receiptIds[0] ?? '', receiptIds.at(-1) ?? ''].map(proofOf),
  );
  expect(example).toEqual({
    did_document: serviceDocument,
    days: [first.record, second.record],
    proofs,
  });
});

it('every part of the example is valid, and a day that it does not have is named', async () => {
  const log = EXAMPLE;
  const service = readService(EXAMPLE_DOCUMENT);
  const [latest, before] = [await log.getDay('2026-11-10'), await log.getDay('2026-11-09')];
  for (const part of [...checkDay(latest, before, service), ...checkDay(before, null, service)])
    expect([part.id, part.state]).toEqual([part.id, 'ok']);
  for (const id of [latest, before].flatMap((day) => [day.first_receipt_id, day.last_receipt_id])) {
    expect(isOfExample(id ?? '')).toBe(true);
    const proof = await log.getInclusion(id ?? '');
    if ('status' in proof) throw new Error('all of it is closed');
    const parts = checkInclusion(proof, id ?? '', EXAMPLE_DOCUMENT);
    expect(parts.filter(({ state }) => state !== 'ok')).toEqual([]);
  }
  await expect(log.getDay('2026-11-11')).rejects.toThrow('The example has no 2026-11-11.');
});
