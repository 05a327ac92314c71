/**
 * Decisions under a service key that has leaked since: accepted with their inclusion and attestation, refused without.
 */
import { encodeMultikey, type JsonObject } from '@svc/codec';
import type { ReceiptId } from '@svc/protocol';
import { attestTo, closeDayOf } from '@svc/testkit/receipts/closed-day';
import { publicKeyOf, signerOf } from '@svc/testkit/receipts/world';
import { type Received, type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { createVerifier } from '../src/index.ts';
import { decide, grant, newProof, order, SERVICE, SHOP, serviceDocument, signReceipt } from './world.ts';

const receipt = await decide({ grant, proof: await newProof({}), action: order }, false);
const id = String(receipt.receipt_id);
const status = signerOf(2, `${SERVICE}#status-1`);
const day = await closeDayOf({ body: { receipt_id: id as ReceiptId } }, { signer: status });

/** `receipt-1` has leaked; the status key is in force. */
const document = {
  ...serviceDocument,
  verificationMethod: [
    ...serviceDocument.verificationMethod.map((method) =>
      method.id.endsWith('#receipt-1') ? { ...method, revoked: '2026-12-01T00:00:00Z' } : method,
    ),
    {
      ...{ id: status.kid, type: 'Multikey', controller: SERVICE },
      publicKeyMultibase: encodeMultikey(publicKeyOf(2)),
    },
  ],
  assertionMethod: [...serviceDocument.assertionMethod, status.kid],
};

const signed = { id, jws: String(receipt.receipt) };
const attestationOf = async (change = {}): Promise<Reply> => ({
  json: { receipt_id: id, day: '2026-11-20', attestation: await attestTo(signed, day, status, change) },
});
const inclusion = day.inclusion as unknown as JsonObject;
const pending: Reply = { status: 202, json: { receipt_id: id, day: '2026-11-20', status: 'pending' } };

interface Answers {
  readonly shown?: JsonObject;
  readonly inclusion?: Reply;
  readonly attestation?: Reply;
  readonly didDocument?: unknown;
}

/** Reads the decision from a service with these answers. */
const read = async (answers: Answers) => {
  const { shown = receipt, didDocument = document } = answers;
  await using server = await startServer(async ({ path }: Received): Promise<Reply> => {
    if (path === `/decisions/${id}`) return { json: { receipt: shown, outcomes: [] } };
    if (path.endsWith('/inclusion')) return answers.inclusion ?? { json: inclusion };
    return answers.attestation ?? (await attestationOf());
  });
  const { decisions } = createVerifier({
    ...{
      baseUrl: server.baseUrl,
      apiKey: 'dk_rp_test',
      relyingParty: SHOP,
      serviceDid: SERVICE,
      didDocument,
    },
    random: () => 0,
  });
  const got = await decisions.get(id).catch((error: unknown) => error);
  return { got, asked: server.received.map(({ path }) => path.split('/').at(-1)) };
};

describe('reading a decision:', () => {
  it('a Receipt under a leaked key is accepted with its inclusion and attestation, which are fetched', async () => {
    const { got, asked } = await read({});
    expect(got).toMatchObject({ receipt, outcomes: [] });
    expect(asked.sort()).toEqual(['attestation', id, 'inclusion'].sort());
  });

  it('a Receipt under a key in force is accepted without fetching an inclusion or an attestation', async () => {
    const { got, asked } = await read({ didDocument: serviceDocument });
    expect(got).toMatchObject({ receipt });
    expect(asked).toEqual([id]);
  });

  it.each<[string, () => Promise<Answers>]>([
    ['while its day is open', async () => ({ inclusion: pending, attestation: pending })],
    [
      'with another Receipt attested',
      async () => ({ attestation: await attestationOf({ receipt_hash: `sha256:${'f'.repeat(64)}` }) }),
    ],
    [
      'with another checkpoint attested',
      async () => ({ attestation: await attestationOf({ checkpoint_hash: `sha256:${'f'.repeat(64)}` }) }),
    ],
    ['without an attestation in the answer', async () => ({ attestation: { json: { receipt_id: id } } })],
    ['with a wrong inclusion proof', async () => ({ inclusion: { json: { ...inclusion, leaf_index: 0 } } })],
  ])('a Receipt under a leaked key is refused %s', async (_, answers) => {
    expect((await read(await answers())).got).toMatchObject({ kind: 'receipt-invalid' });
  });

  it('content other than the attested one is refused, because the holder of a leaked key can sign it', async () => {
    const { receipt: _, ...body } = receipt;
    const shown = await signReceipt({ ...body, grant_hash: `sha256:${'f'.repeat(64)}` });
    expect((await read({ shown })).got).toMatchObject({
      ...{ kind: 'receipt-invalid', cause: [{ code: 'key-not-in-force' }] },
    });
  });

  it('a Receipt under a leaked key is refused where its attestation cannot be fetched', async () => {
    expect(
      (await read({ attestation: { status: 404, json: { error: 'NOT_FOUND', message: 'x' } } })).got,
    ).toMatchObject({
      kind: 'refused',
    });
  });
});
