import { type RouteId, routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { isCounted } from './limit-newcomers.ts';

it('whatever makes something for a tenant counts, and nothing that takes authority away', () => {
  const tenants = ['rp', 'principal', 'org', 'org:admin'];
  const counted = (Object.keys(routes) as RouteId[])
    .filter((id) => routes[id].auth.some((one) => tenants.includes(one)))
    .filter(isCounted);
  expect(counted.sort()).toEqual([
    'allocateGrant',
    'approveRequest',
    'createEventSubscription',
    'createPrincipal',
    'createRelyingParty',
    'createStream',
    'enableEventSubscription',
    'issueApiKey',
    'issueOrgApiKey',
    'registerAgent',
    'replaceStream',
    'reportOutcome',
    'requestAccess',
    'resume',
    'rotateEventSecret',
    'setStreamStatus',
    'startConformanceRun',
    'updateRelyingParty',
    'updateStream',
    'verifyPrincipal',
    'verifyRelyingParty',
  ]);
});
