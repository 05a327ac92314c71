/** `GET /healthz` (interface §Public). */
import { describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

const get = (path: string) => deployment.call('GET', path);

describe('GET /healthz', () => {
  it('names the environment and the DID of the deployment', async () => {
    expect((await get('/healthz')).json).toEqual({ ok: true, env: 'development', did: `did:web:${DOMAIN}` });
  });
});
