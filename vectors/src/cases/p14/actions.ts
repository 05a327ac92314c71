/** P14: the Proof is for exactly this Action (protocol §4, §7). */
import { API_CALL, apiCapability, purchaseCapability, type Scene } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const differs = (id: string, description: string, edit: (s: Scene) => void): VectorCase =>
  deny('PROOF_ACTION_MISMATCH', `p14-${id}`, description, { P15: true, P14: false }, edit);

const presented = (members: Record<string, unknown>) => (s: Scene) => {
  s.presentedAction = { ...s.action, ...members };
};

const PURCHASES: readonly VectorCase[] = [
  differs('another-amount', 'one minor unit more than signed', presented({ amount: 42701 })),
  differs('another-currency', 'another currency than signed', presented({ currency: 'EUR' })),
  differs('another-resource', 'another resource than signed', presented({ resource: 'order/1002' })),
  differs('unicode-form', 'NFC and NFD of one text are two texts', (s) => {
    s.action.resource = 'order/caf\u00e9';
    s.presentedAction = { ...s.action, resource: 'order/cafe\u0301' };
  }),
  differs('another-type', 'a purchase signed, an API call described', (s) => {
    s.presentedAction = { ...API_CALL };
  }),
  allow('p14-member-order', 'the order of members says nothing', { P14: true }, (s) => {
    s.presentedAction = Object.fromEntries(Object.entries(s.action).reverse());
  }),
  allow(
    'p14-purchase-any-request',
    'a purchase binds the request through request_hash only',
    { P14: true },
    (s) => {
      Object.assign(s.proof.payload, { htm: 'PUT', htu: 'https://elsewhere.example/%7Ebasket' });
    },
  ),
];

/** The Agent calls `resource` and signs `htu`. */
const call = (resource: string, htu: string) => (s: Scene) => {
  s.action = { ...API_CALL, resource };
  s.proof.payload.htu = htu;
  s.grant.subject.capabilities = [apiCapability({}, { resources: ['*'] })];
};

const same = (id: string, description: string, resource: string, htu: string): VectorCase =>
  allow(`p14-htu-${id}`, description, { P14: true }, call(resource, htu));

const other = (id: string, description: string, resource: string, htu: string): VectorCase =>
  differs(`htu-${id}`, description, call(resource, htu));

const BASE = 'https://api.shop.example';

const CALLS: readonly VectorCase[] = [
  same('unreserved-escape', '%7E is ~', `${BASE}/~me`, `${BASE}/%7Eme`),
  same('escape-case', '%2f is %2F', `${BASE}/a%2Fb`, `${BASE}/a%2fb`),
  same('host-case', 'hosts have no case', `${BASE}/a`, 'https://API.Shop.Example/a'),
  same('scheme-case', 'schemes have no case', `${BASE}/a`, 'HTTPS://api.shop.example/a'),
  same('default-port', ':443 is the port of https', `${BASE}/a`, `${BASE}:443/a`),
  same('empty-path', 'an empty path is /', `${BASE}/`, BASE),
  same('dot-segments', 'dot segments are resolved', `${BASE}/a/c`, `${BASE}/a/./b/../c`),
  same('escaped-dot-segments', 'escaped dots are dots', `${BASE}/c`, `${BASE}/a/%2e%2E/c`),
  same('query-and-fragment', 'query and fragment are left out', `${BASE}/a?x=1`, `${BASE}/a?y=2#z`),
  other('trailing-slash', 'a trailing slash is part of the path', `${BASE}/a`, `${BASE}/a/`),
  other('double-slash', 'an empty segment is a segment', `${BASE}/a/b`, `${BASE}/a//b`),
  other('path-case', 'paths have case', `${BASE}/a`, `${BASE}/A`),
  other('escaped-slash', '%2F is not /', `${BASE}/a/b`, `${BASE}/a%2Fb`),
  other('scheme', 'http is not https', `${BASE}/a`, 'http://api.shop.example/a'),
  other('port', ':8443 is another port', `${BASE}/a`, `${BASE}:8443/a`),
  other('host', 'another host', `${BASE}/a`, 'https://api.shop.example.mallory.example/a'),
  differs('htm', 'another method than signed', (s) => {
    call(`${BASE}/a`, `${BASE}/a`)(s);
    s.proof.payload.htm = 'GET';
  }),
  differs('signed-action-not-normalised', 'the Actions themselves are compared as text', (s) => {
    call(`${BASE}/~me`, `${BASE}/~me`)(s);
    s.presentedAction = { ...s.action, resource: `${BASE}/%7Eme` };
  }),
];

const WITHOUT_GRANT: readonly VectorCase[] = [
  deny(
    'ACTION_NOT_AUTHORIZED',
    'p14-holds-without-authority',
    'the Agent may sign for what it may not do',
    { P14: true, P16: false },
    (s) => {
      s.action = { ...API_CALL };
      s.grant.subject.capabilities = [purchaseCapability()];
    },
  ),
];

export const cases: readonly VectorCase[] = [...PURCHASES, ...CALLS, ...WITHOUT_GRANT];
