import { startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { createVerifier } from '../src/index.ts';
import { decide, grant, newProof, order, SERVICE, SHOP, serviceDocument } from './world.ts';

const decisionsAt = (baseUrl: string, relyingParty = SHOP) =>
  createVerifier({
    ...{ baseUrl, relyingParty, apiKey: 'dk_rp_test', serviceDid: SERVICE, didDocument: serviceDocument },
    random: () => 0,
  }).decisions;
const decideNow = async () => decide({ grant, proof: await newProof({}), action: order }, false);

describe('a bundle', () => {
  it('is returned unchanged, with its Receipt checked', async () => {
    const receipt = await decideNow();
    const json = { receipt, inclusion: {}, checkpoint: {}, did_document: serviceDocument, evidence: [] };
    await using server = await startServer([{ json }]);
    const id = String(receipt.receipt_id);
    expect(await decisionsAt(server.baseUrl).bundle(id)).toEqual({ state: 'ready', bundle: json, receipt });
    expect(server.received).toMatchObject([{ method: 'GET', path: `/decisions/${id}/bundle` }]);
  });

  it('is pending while its day is open', async () => {
    const id = String((await decideNow()).receipt_id);
    const json = { receipt_id: id, day: '2026-11-20', status: 'pending' };
    await using server = await startServer([{ status: 202, json }]);
    expect(await decisionsAt(server.baseUrl).bundle(id)).toEqual({ state: 'pending', day: '2026-11-20' });
  });

  it.each<[string, (receipt: Record<string, unknown>, id: string) => object, string]>([
    ['another Receipt', (receipt) => ({ json: { receipt: { ...receipt, agent: 'x' } } }), 'receipt-invalid'],
    ['no Receipt', () => ({ json: { evidence: [] } }), 'bad-response'],
    [
      'another pending decision',
      () => ({ status: 202, json: { receipt_id: 'drc_1', day: '2026-11-20' } }),
      'bad-response',
    ],
    ['a malformed day', (_, id) => ({ status: 202, json: { receipt_id: id, day: 'soon' } }), 'bad-response'],
  ])('with %s is an error', async (_, reply, kind) => {
    const receipt = await decideNow();
    const id = String(receipt.receipt_id);
    await using server = await startServer([reply(receipt, id)]);
    await expect(decisionsAt(server.baseUrl).bundle(id)).rejects.toMatchObject({ kind });
  });

  it('of another decision or another relying party is an error', async () => {
    const receipt = await decideNow();
    await using server = await startServer([{ json: { receipt } }]);
    const other = String((await decideNow()).receipt_id);
    await expect(decisionsAt(server.baseUrl).bundle(other)).rejects.toMatchObject({
      kind: 'receipt-invalid',
    });
    const own = decisionsAt(server.baseUrl, 'did:web:other.example').bundle(String(receipt.receipt_id));
    await expect(own).rejects.toMatchObject({ kind: 'receipt-invalid' });
  });

  it('is not requested for a malformed receipt_id', async () => {
    await using server = await startServer([]);
    await expect(decisionsAt(server.baseUrl).bundle('../me')).rejects.toMatchObject({
      kind: 'invalid-argument',
    });
    expect(server.received).toEqual([]);
  });
});

it('a 202 in answer to decisions.get is an error', async () => {
  const receipt = await decideNow();
  await using server = await startServer([{ status: 202, json: { receipt, outcomes: [] } }]);
  const read = decisionsAt(server.baseUrl).get(String(receipt.receipt_id));
  await expect(read).rejects.toMatchObject({ kind: 'bad-response' });
});
