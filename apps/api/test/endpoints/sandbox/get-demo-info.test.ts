/** `GET /demo/info` (interface §Endpoints, Sandbox): the tenants of the sandbox. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { contractCall } from '../../world/contract-call.ts';
import { AUTHORITY, PRINCIPAL, RP, withSandbox } from '../../world/sandbox.ts';

const { deployment } = withSandbox();

let info: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  info = (await deployment.call('GET', '/demo/info')).json;
});

describe('The sandbox', () => {
  it('names its parties, the authority of its Grants and its limits in GET /demo/info', () => {
    expect(info).toEqual({
      principal: PRINCIPAL,
      agent: expect.stringMatching(/^did:key:z6Mk/),
      rp: RP,
      authority: AUTHORITY,
      grant_lifetime_seconds: 3_600,
      request: { method: 'POST', url: 'https://shop.example/checkout' },
      amount_cap: 1_000_000_000,
      rate_limit_per_minute: 60,
    });
  });

  it('is the same on both nodes, with one signing key of the Principal', async () => {
    const { json } = await contractCall(deployment.processes[1]?.baseUrl ?? '', 'GET', '/demo/info');
    expect(json).toEqual(info);
    const { rows } = await deployment.sql.query('select kid from principal_keys where principal = $1', [
      PRINCIPAL,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('has its Principal in the directory, serves its DID document, and is created and audited once', async () => {
    const { json } = await deployment.call('GET', `/principals/${PRINCIPAL}`, { key: ADMIN_TOKEN });
    expect(json).toMatchObject({ kind: 'managed', verification: { state: 'verified' } });
    expect((await deployment.call('GET', '/org/sandbox/did.json')).json.id).toBe(PRINCIPAL);
    const audit = await deployment.call('GET', '/audit?action=sandbox.create', { key: ADMIN_TOKEN });
    expect(audit.json.events).toMatchObject([
      { actor: { kind: 'system', did: null, key_id: null }, target: PRINCIPAL },
    ]);
  });

  it.each(['/principals', '/relying-parties'])('reserves its slug at %s', async (path) => {
    const keys = [{ publicKeyMultibase: String(info.agent).slice('did:key:'.length) }];
    const body = { kind: 'managed', slug: 'sandbox', ...(path === '/principals' && { keys }) };
    const { status, json } = await deployment.call('POST', path, { key: ADMIN_TOKEN, body });
    expect([status, json.message]).toEqual([409, 'slug: sandbox is reserved.']);
  });
});
