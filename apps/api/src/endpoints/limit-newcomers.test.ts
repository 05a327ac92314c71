import { errorCodesOf, type RouteId, routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { isCounted } from './limit-newcomers.ts';

const TENANTS = ['rp', 'principal', 'org', 'org:admin'];
const countedRoutes = (Object.keys(routes) as RouteId[])
  .filter((id) => routes[id].auth.some((one) => TENANTS.includes(one)))
  .filter(isCounted);

it('Routes that create something for a tenant count for the newcomer limit, and those that remove authority do not', () => {
  expect(
    [...countedRoutes].sort(),
    'add the new route here; or to NOT_COUNTED, if it changes nothing for a tenant or takes authority away',
  ).toEqual([
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

it('The contract lists 403 for each route that counts for the newcomer limit', () => {
  expect(countedRoutes.filter((id) => !errorCodesOf(routes[id]).includes('FORBIDDEN'))).toEqual([]);
});
