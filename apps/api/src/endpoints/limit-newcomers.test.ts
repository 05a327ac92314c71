import { errorCodesOf, type RouteId, routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { isCounted } from './limit-newcomers.ts';

const TENANTS = ['rp', 'principal', 'org', 'org:admin'];
const countedRoutes = (Object.keys(routes) as RouteId[])
  .filter((id) => routes[id].auth.some((one) => TENANTS.includes(one)))
  .filter(isCounted);

it('whatever makes something for a tenant counts, and nothing that takes authority away', () => {
  expect([...countedRoutes].sort()).toEqual([
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

it('the contract lists the 403 of each route that counts', () => {
  expect(countedRoutes.filter((id) => !errorCodesOf(routes[id]).includes('FORBIDDEN'))).toEqual([]);
});
