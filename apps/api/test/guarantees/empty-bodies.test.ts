/**
 * A body of no bytes counts as an object without members: accepted where every member is optional, and nowhere else
 * (protocol §13).
 */
import { type Route, routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';

const deployment = withDeployment();

it('exactly the listed routes accept {} as a body', () => {
  const taken = (Object.entries(routes) as [string, Route][])
    .filter(([, { body }]) => body?.safeParse({}).success)
    .map(([id]) => id);
  expect(taken.sort()).toEqual([
    'createStream',
    'issueApiKey',
    'issueObserverKey',
    'mintDemo',
    'pollStream',
    'rejectRequest',
    'updateRelyingParty',
  ]);
});

it('routes that accept {} answer an empty body in the same way', async () => {
  const { rpKey, rpDid, principalDid, principalKey } = await deployment.createTenants();
  const requests = `/principals/${principalDid}/access-requests`;
  for (const [method, path, key, status] of [
    ['POST', '/api-keys', rpKey, 201],
    ['POST', '/observer-keys', ADMIN_TOKEN, 201],
    ['POST', '/demo/mint', undefined, 200],
    // No request has this id; a body that is not accepted is refused before the look-up.
    ['POST', `${requests}/arq_01M7VZGC008Q2R7V9X1C4E6H8S/reject`, principalKey, 404],
    ['PATCH', `/relying-parties/${rpDid}`, ADMIN_TOKEN, 200],
  ] as const)
    for (const rawBody of ['', '{}', undefined]) {
      const options = { ...(key && { key }), ...(rawBody === undefined ? {} : { rawBody }) };
      expect([path, rawBody, (await deployment.call(method, path, options)).status]).toEqual([
        path,
        rawBody,
        status,
      ]);
    }
});

it('an empty body is refused on /grants and /verify, and white space on a route that accepts an empty body', async () => {
  const { principalKey, rpKey } = await deployment.createTenants();
  const post = (path: string, key: string, rawBody: string) =>
    deployment.call('POST', path, { key, rawBody });
  expect((await post('/grants', principalKey, '')).json.message).toContain('empty');
  expect((await post('/verify', rpKey, '')).json.error).toBe('INVALID_REQUEST');
  expect((await post('/api-keys', rpKey, ' ')).json.error).toBe('INVALID_REQUEST');
});
