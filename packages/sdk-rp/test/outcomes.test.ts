import { LATIN_1, type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createVerifier, type OutcomeEvent } from '../src/index.ts';
import { SERVICE, SHOP } from './world.ts';

const RECEIPT_ID = 'drc_01M7VZGC008Q2R7V9X1C4E6H8K';
const loss: OutcomeEvent = {
  type: 'loss_reported',
  occurred_at: '2026-11-20T08:00:00Z',
  loss_amount: 42_700,
  currency: 'USD',
};
const attestation = {
  ...loss,
  attestation_id: 'oat_01M7VZGC008Q2R7V9X1C4E6H8P',
  reporter: SHOP,
  recorded_at: '2026-11-20T08:00:01.000Z',
};

const outcomesAt = (baseUrl: string) =>
  createVerifier({
    baseUrl,
    apiKey: 'dk_rp_test',
    serviceDid: SERVICE,
    relyingParty: SHOP,
    random: () => 0,
    timeoutMs: 400,
  }).outcomes;

describe('a report', () => {
  it('is sent as it was at the call, and answered with the attestation', async () => {
    await using server = await startServer([{ status: 201, json: attestation }]);
    const reused = { ...loss };
    const work = outcomesAt(server.baseUrl).report(RECEIPT_ID, reused);
    // The caller may reuse the object for the next report.
    Object.assign(reused, { type: 'fulfilled' });
    expect(await work).toEqual(attestation);
    expect(server.received).toMatchObject([{ method: 'POST', path: `/decisions/${RECEIPT_ID}/outcomes` }]);
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual(loss);
  });

  it.each<[string, Reply, string]>([
    ['its answer was lost', 'destroy', 'outcome-unknown'],
    ['no answer came in time', 'silence', 'outcome-unknown'],
    ['a gateway lost it', { status: 502, text: 'Bad Gateway' }, 'outcome-unknown'],
    ['a gateway gave it up', { status: 524, text: 'A timeout occurred' }, 'outcome-unknown'],
    ['a gateway in Latin-1', { status: 502, text: LATIN_1 }, 'outcome-unknown'],
    ['a gateway in JSON', { status: 500, json: { error: 'Internal Server Error' } }, 'outcome-unknown'],
    [
      'a gateway has a code of its own',
      { status: 500, json: { error: 'GATEWAY_TIMEOUT' } },
      'outcome-unknown',
    ],
    ['a fault came after it', { status: 500, json: { error: 'INTERNAL', message: '' } }, 'outcome-unknown'],
    ['a 503 may stand for a commit', unavailable(), 'refused'],
  ])('is never sent twice: %s', async (_, reply, kind) => {
    await using server = await startServer([reply, { status: 201, json: attestation }]);
    await expect(outcomesAt(server.baseUrl).report(RECEIPT_ID, loss)).rejects.toMatchObject({ kind });
    expect(server.received).toHaveLength(1);
  });

  it('is repeated after a 429', async () => {
    const limited = { ...(unavailable() as object), status: 429 };
    await using server = await startServer([limited, { status: 201, json: attestation }]);
    expect(await outcomesAt(server.baseUrl).report(RECEIPT_ID, loss)).toEqual(attestation);
  });

  it.each([
    ['of another type', { ...attestation, type: 'fulfilled' }],
    ['of another reporter', { ...attestation, reporter: 'did:web:other.example' }],
    ['of an unknown form', { ...attestation, attestation_id: 1 }],
  ])('answered with an attestation %s is an error', async (_, json) => {
    await using server = await startServer([{ status: 201, json }]);
    await expect(outcomesAt(server.baseUrl).report(RECEIPT_ID, loss)).rejects.toMatchObject({
      kind: 'bad-response',
    });
  });

  it.each([
    ['drc_1', loss],
    [`../orgs/${RECEIPT_ID}`, loss],
    [undefined, loss],
    [RECEIPT_ID, undefined],
    [RECEIPT_ID, [loss]],
  ])(
    'with a malformed receipt_id or event is refused before anything is sent: %j %j',
    async (receiptId, event) => {
      await using server = await startServer([]);
      const { report } = outcomesAt(server.baseUrl);
      const given = [receiptId, event] as unknown as Parameters<typeof report>;
      await expect(report(...given)).rejects.toMatchObject({ kind: 'invalid-argument' });
      expect(server.received).toEqual([]);
    },
  );
});

it('the type of an event requires the members of its kind', () => {
  expectTypeOf<{ type: 'fulfilled'; occurred_at: string }>().toExtend<OutcomeEvent>();
  expectTypeOf<{ type: 'loss_reported'; occurred_at: string }>().not.toExtend<OutcomeEvent>();
  expectTypeOf<{ type: 'dispute_resolved'; occurred_at: string }>().not.toExtend<OutcomeEvent>();
  expectTypeOf<{ type: 'delivered'; occurred_at: string }>().not.toExtend<OutcomeEvent>();
});
