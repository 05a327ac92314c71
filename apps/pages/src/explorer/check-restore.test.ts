/** A tampered statement about a lost span is refused; one whose key is not known yet is not judged. */
import { jcs, signCompactJws } from '@svc/protocol';
import { SERVICE, serviceDocument, signerOf } from '@svc/testkit/receipts/signed-receipts';
import { RESTORE_TYP } from '@svc/transparency';
import { expect, it } from 'vitest';
import { readService } from './check-day.ts';
import { checkRestore } from './check-restore.ts';

const signed = {
  epoch: 1,
  lost_from: '2026-11-20T09:59:58.000Z',
  lost_until: '2026-11-20T10:20:10.000Z',
  quarantined_until: '2026-11-20T10:25:23.000Z',
  reinstated_days: ['2026-11-19'],
  revoked_again: 3,
  previous: null,
};
const iat = Date.UTC(2026, 10, 20, 10, 25) / 1000;
const signer = signerOf(2, `${SERVICE}#status-1`);
const statement = await signCompactJws(signer, { typ: RESTORE_TYP }, jcs({ iss: SERVICE, ...signed, iat }));
const shown = { ...signed, statement } as unknown as Parameters<typeof checkRestore>[0];

const statesOf = (restore: typeof shown, document: object = serviceDocument) =>
  checkRestore(restore, readService(JSON.stringify(document))).map(({ state }) => state);

it('a statement is valid as signed, and wrong if altered', () => {
  expect(statesOf(shown)).toEqual(['ok', 'ok']);
  expect(statesOf({ ...shown, lost_from: '2026-11-20T10:00:00.000Z' })).toEqual(['ok', 'wrong']);
  const forged = { ...shown, statement: `${statement.slice(0, -4)}AAAA` };
  expect(statesOf(forged)).toEqual(['wrong', 'unchecked']);
});

it('a statement whose key the document does not have is unchecked: the document may be older', () => {
  expect(statesOf(shown, { ...serviceDocument, verificationMethod: [] })).toEqual(['unchecked', 'unchecked']);
});
