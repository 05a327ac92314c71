import { startServer } from '@svc/testkit/sdk/scripted-server';
import { expect, it } from 'vitest';
import { createFinder } from './fetch-receipt.ts';

const id = 'drc_01KAFQ0000ABCDEFGHJKMNPQRS';
const did = 'did:web:svc.example:org:acme';

it('a receipt_id is looked up with the key of the relying party, then of the Principal; other text is kept unchanged', async () => {
  await using server = await startServer(({ path }) =>
    path === '/me'
      ? {
          json: {
            role: 'principal',
            subject: did,
            key_id: '3fa1c09be742',
            service_did: 'did:web:svc.example',
            env: 'development',
          },
        }
      : path.startsWith('/principals/')
        ? { json: { receipt: {} } }
        : { status: 404, json: { error: 'NOT_FOUND', message: 'No.' } },
  );
  const { baseUrl } = server;
  const relyingParty = { baseUrl, apiKey: 'dk_rp_test' };
  const principal = { baseUrl, apiKey: 'dk_principal_test', signer: undefined };
  expect(await createFinder({ principal, relyingParty }, 100)(` ${id} `)).toEqual({
    text: '{"receipt":{}}',
    receiptId: id,
  });
  expect(server.received.map(({ path, headers }) => `${path} ${headers.authorization}`)).toEqual([
    `/decisions/${id} Bearer dk_rp_test`,
    '/me Bearer dk_principal_test',
    `/principals/${encodeURIComponent(did)}/decisions/${id} Bearer dk_principal_test`,
  ]);
  const asked = server.received.length;
  for (const text of ['{"receipt":1}', 'a.b.c', 'drc_x'])
    expect(await createFinder({ principal, relyingParty }, 100)(text)).toEqual({ text, receiptId: null });
  expect(server.received.length).toBe(asked);
  const unread = createFinder({ principal: undefined, relyingParty }, 100)(id);
  await expect(unread).rejects.toMatchObject({ kind: 'refused', code: 'NOT_FOUND' });
  await expect(createFinder({ principal, relyingParty: undefined }, 5)(id)).rejects.toMatchObject({
    kind: 'bad-response',
  });
});

it.each([401, 403])(
  'where the key of the relying party is answered %s, the key of the Principal is tried',
  async (status) => {
    let own = { status: 200, json: { receipt: {} } };
    await using server = await startServer(({ path }) =>
      path === '/me'
        ? {
            json: {
              role: 'principal',
              subject: did,
              key_id: '3fa1c09be742',
              service_did: 'did:web:svc.example',
              env: 'development',
            },
          }
        : path.startsWith('/principals/')
          ? own
          : { status, json: { error: 'UNAUTHORIZED', message: 'No.' } },
    );
    const { baseUrl } = server;
    const relyingParty = { baseUrl, apiKey: 'dk_rp_revoked' };
    const principal = { baseUrl, apiKey: 'dk_principal_test', signer: undefined };
    expect((await createFinder({ principal, relyingParty }, 100)(id)).text).toBe('{"receipt":{}}');
    // Neither key finds it: the error is the refusal of the first key.
    own = { status: 404, json: { receipt: {} } };
    for (const keys of [
      { principal, relyingParty },
      { principal: undefined, relyingParty },
    ])
      await expect(createFinder(keys, 100)(id)).rejects.toMatchObject({ kind: 'refused', status });
  },
);
