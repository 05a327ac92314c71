/** `GET /status-lists/{domain}/{number}` (interface §Public). grants/revoke-grant tests its bits. */
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;

beforeAll(async () => {
  tenants = await deployment.createTenants();
});

const get = (path: string) => deployment.call('GET', path);
const headerOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString());

describe('GET /status-lists/{domain}/{number}', () => {
  it('finds the list of a hosted Principal with a port in each escaping of its colon', async () => {
    const { key } = await deployment.register('/principals', {
      kind: 'hosted',
      did: 'did:web:localhost%3A4711',
    });
    const { json } = await deployment.call('POST', '/grants', { key, body: { agent: tenants.agent.did } });
    const entry = json.credentialStatus as { statusListCredential: string };
    expect(entry.statusListCredential).toBe(`http://${DOMAIN}/status-lists/localhost%3A4711/1`);
    const texts = [];
    for (const domain of ['localhost%3A4711', 'localhost:4711', 'localhost%253A4711'])
      texts.push((await get(`/status-lists/${domain}/1`)).text);
    expect(new Set(texts).size).toBe(1);
    expect(headerOf(texts[0] ?? '').typ).toBe('vc+jwt');
  });
});
