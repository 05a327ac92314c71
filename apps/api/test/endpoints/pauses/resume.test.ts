/** `POST /pauses/resume` beside pause.test.ts: calls where no pause is to be ended. Who may call: access matrix. */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant } from '../../world/tenants.ts';

const deployment = withDeployment();

it('POST /pauses/resume of a Grant that was never paused answers 200, stores no pause and is not audited', async () => {
  const tenants = await deployment.createTenants();
  const { grantId } = await issueGrant(tenants);
  const body = { scope: 'grant', subject: grantId };
  const { status, json } = await deployment.call('POST', '/pauses/resume', {
    key: tenants.principalKey,
    body,
  });
  expect([status, json]).toEqual([200, { ...body, paused: false, resumed_at: expect.any(String) }]);
  const { rowCount } = await deployment.sql.query('select from pauses where owner = $1', [
    tenants.principalDid,
  ]);
  const events = await deployment.call('GET', `/audit?target=${grantId}`, { key: tenants.principalKey });
  expect([rowCount, (events.json.events as { action: string }[]).map(({ action }) => action)]).toEqual([
    0,
    ['grant.allocate'],
  ]);
});
