/** `svc-admin pause`, `pause show` and `resume` (protocol §9): the operator's switch, which needs only the database. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeMultikey } from '@svc/protocol';
import { isDeep } from '@svc/testkit/sampled';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN, type InnerNode, nodeEnv } from '../world/api-node.ts';
import { dataFolder } from '../world/data-folder.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { runAdmin } from '../world/run-admin.ts';
import { callUntilSettled, issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const dataDir = dataFolder();
const deployment = withOwnDeployment({ SVC_DATA_DIR: dataDir }, 2);

/** Settings of a machine whose Receipt key is compromised, and whose status key is in a token that is not available. */
const STALE = {
  SVC_DATA_DIR: dataDir,
  SVC_RECEIPT_KEYS: join(dataDir, 'stale-receipt-keys.json'),
  SVC_STATUS_KEYS: join(dataDir, 'away-status-keys.json'),
};

const makeStale = async () => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const write = (path: string, key: object) =>
    writeFileSync(path, JSON.stringify({ keys: [key] }), { mode: 0o600 });
  write(STALE.SVC_RECEIPT_KEYS, { kid: 'receipt-99', ...jwk });
  const { d: _, ...published } = jwk;
  const private_key = 'pkcs11:token=svc;object=status-99?module-path=/nowhere/module.so';
  write(STALE.SVC_STATUS_KEYS, { kid: 'status-99', ...published, private_key });
  const { serviceKeys } = (deployment.processes[0] as InnerNode).service.store;
  const kid = `did:web:${DOMAIN}#receipt-99`;
  await serviceKeys.remember(kid, encodeMultikey(Buffer.from(published.x ?? '', 'base64url')));
  await serviceKeys.end(kid, 'compromised');
};

const admin = (...parameters: string[]) => runAdmin(parameters, nodeEnv(deployment.databaseUrl, STALE));

const OF_LOG = {
  msg: 'revocation',
  time: expect.stringMatching(/Z$/),
  ended: expect.stringMatching(/^pause:/),
};

const reasonsOf = async (tenants: Tenants) => {
  const held = await issueGrant(tenants);
  return Promise.all(
    deployment.processes.map(async ({ baseUrl }) => {
      const options = { key: tenants.rpKey, body: await verifyBody(tenants, held) };
      return receiptOf(await callUntilSettled(baseUrl, 'POST', '/verify', options)).reason;
    }),
  );
};

it('from svc-admin pause until svc-admin resume every node denies every tenant, even with unusable keys on the machine of the operator', async () => {
  await makeStale();
  const before = await deployment.createTenants();
  expect(await reasonsOf(before)).toEqual([null, null]);
  if (isDeep) {
    expect(await admin('pause', 'show')).toMatchObject({ status: 0, out: 'The service is not paused.\n' });
    expect(await admin('resume')).toMatchObject({ status: 0, out: 'It was never paused.\n' });
  }
  const paused = await admin('pause', '--reason', 'a leak');
  expect(paused).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^Paused since .*Z: no ALLOW is dated later\.\n$/),
  });
  // It prints only the line that a node would log, for a restore.
  expect(JSON.parse(paused.err)).toMatchObject({ ...OF_LOG, kept: { is_paused: true, reason: 'a leak' } });
  if (isDeep)
    expect(await admin('pause', '--reason', 'another')).toMatchObject({
      status: 0,
      out: expect.stringMatching(
        /later\.\nIt was already paused, and stays paused with its reason: a leak\.\n$/,
      ),
    });
  const meanwhile = await deployment.createTenants();
  for (const tenants of [before, meanwhile])
    expect(await reasonsOf(tenants)).toEqual(Array(2).fill('SERVICE_UNAVAILABLE'));
  if (isDeep)
    expect(await admin('pause', 'show')).toMatchObject({
      status: 1,
      out: expect.stringMatching(/Z: a leak\n$/),
    });
  const shown = await deployment.call('GET', '/pauses', { key: before.rpKey });
  expect(shown.json.pauses).toMatchObject([
    { scope: 'service', reason: 'a leak', paused_by: { kind: 'admin' } },
  ]);
  // No other caller can end it.
  for (const key of [before.rpKey, before.principalKey]) {
    const body = { scope: 'service', subject: 'service' };
    expect((await deployment.call('POST', '/pauses/resume', { key, body })).status).toBe(400);
  }
  const resumed = await admin('resume');
  expect(resumed).toMatchObject({ status: 0, out: expect.stringMatching(/^Resumed at .*Z\.\n$/) });
  expect(JSON.parse(resumed.err)).toMatchObject({ ...OF_LOG, kept: { is_paused: false } });
  for (const tenants of [before, meanwhile]) expect(await reasonsOf(tenants)).toEqual([null, null]);
  const { json } = await deployment.call('GET', '/audit?target=service', { key: ADMIN_TOKEN });
  expect(json.events).toMatchObject([{ action: 'pause.lift' }, { action: 'pause.set' }]);
});
