/** `GET /restores` (protocol §12). test/deployments/restore.deep.test.ts tests its content after a restore. */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

it('GET /restores is empty for a ledger that was never set back, and cacheable for 60 s', async () => {
  const { status, json, headers } = await deployment.call('GET', '/restores');
  expect([status, json, headers['cache-control']]).toEqual([200, { restores: [] }, 'public, max-age=60']);
});
