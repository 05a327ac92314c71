/**
 * The service's answers to the dashboard of a Principal: four Grants to two Agents, at three shops; pauses and
 * revocations take effect.
 */
import type { Body, Routes } from '@svc/contract';
import type { ApiError } from '../../src/http/api-error.ts';
import type { Served } from './serve.ts';

export const DID = 'did:web:acme.example';
export const AGENTS = [
  'did:key:z6MksfbemfxmHksEVufvPpiYfCnHH5VxpcPA9na36GXu3mwS',
  'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
] as const;
/** An Agent that presents Grants of others with Proofs of its own. */
export const STRANGER = 'did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2';
/** An Agent whose Grant is in no list but one that a test gives, and that has no decisions. */
export const QUIET = 'did:key:z6MkwFXxPnLrUeRbpVNQnVXkvvYRqMFzP6hPzqGFDYQEYrMQ';
export const GRANTS = ['6H8M', '7J9N', '8K1P', '9M2Q'].map(
  (end) => `urn:svc:grant:01KAGT3Z5M8Q2R7V9X1C4E${end}`,
);
const SHOPS = ['did:web:shop.example', 'did:web:travel.example', 'did:web:svc.test:rp:globex-supplies'];
const RECEIPT = (i: number) => `drc_01KAGT3Z5M8Q2R7V9X1C4E${String(2000 + i)}`;
const KEY = (digit: string) => `sha256:${digit.repeat(64)}`;
const AT = '2026-11-20T16:12:09.000Z';

type Activity = Body<Routes['getPrincipalActivity'], 200>;
type GrantSummary = Body<Routes['listGrants'], 200>['grants'][number];
type Consumption = Body<Routes['getGrantConsumption'], 200>;
type Pause = Body<Routes['listPauses'], 200>['pauses'][number];

const group = (
  subject: string,
  allow: number,
  deny: number,
  amounts: Record<string, number>,
  agent: string | null = null,
): Activity['groups'][number] => ({
  subject: subject as never,
  agent: agent as never,
  ...{ verifies: allow + deny, allow, deny },
  reasons: deny === 0 ? {} : { AMOUNT_EXCEEDS_AUTHORITY: deny },
  allowed_amounts: amounts,
  first_at: '2026-11-02T08:00:00.000Z',
  last_at: AT,
});

const GROUPS: Readonly<Record<Activity['by'], Activity['groups']>> = {
  agent: [
    group(AGENTS[0], 412, 9, { USD: 1_284_300, EUR: 48_200 }),
    group(AGENTS[1], 38, 21, { USD: 91_000 }),
    { ...group(STRANGER, 0, 3, {}), reasons: { PROOF_AGENT_MISMATCH: 3 } },
  ],
  grant: [
    group(GRANTS[0] ?? '', 310, 6, { USD: 1_042_700 }, AGENTS[0]),
    group(GRANTS[1] ?? '', 102, 3, { USD: 241_600, EUR: 48_200 }, AGENTS[0]),
    group(GRANTS[2] ?? '', 38, 21, { USD: 91_000 }, AGENTS[1]),
  ],
  rp: SHOPS.map((shop, i) =>
    group(shop, [290, 118, 42][i] ?? 0, [4, 0, 26][i] ?? 0, { USD: 400_000 - i * 120_000 }),
  ),
};

const balance = (key: string, limits: readonly (number | null)[], spent: readonly number[]) => {
  const [total = null, perPeriod = null, uses = null] = limits;
  const [inAll = 0, inPeriod = 0, used = 0] = spent;
  const left = (limit: number | null, gone: number) => (limit === null ? null : limit - gone);
  return {
    ...{ key, spent_total: inAll, spent_in_period: inPeriod, uses_spent: used, updated_at: AT },
    period_start: perPeriod === null ? null : '2026-11-20T00:00:00.000Z',
    limits: { total, per_period: perPeriod, uses },
    remaining: { total: left(total, inAll), per_period: left(perPeriod, inPeriod), uses: left(uses, used) },
  };
};
/** By position of the Grant. */
const BALANCES = [
  [balance(KEY('1'), [1_250_000, 100_000, null], [1_042_700, 42_700, 310])],
  [
    balance(KEY('2'), [null, null, 150], [0, 0, 102]),
    balance(KEY('3'), [50_000, null, null], [48_200, 0, 3]),
  ],
  // No Receipt names the Capability of the second.
  [
    balance(KEY('4'), [91_000, null, null], [91_000, 0, 38]),
    balance(KEY('5'), [null, 5_000, null], [0, 5_000, 4]),
  ],
  [],
];
const AUTHORITIES = [
  {
    action: 'commerce:purchase',
    constraints: {
      maxAmount: 50_000,
      currency: 'USD',
      maxTotal: 1_250_000,
      maxPerPeriod: 100_000,
      period: 'month',
    },
    resources: ['order/*'],
  },
  {
    action: 'api:call',
    constraints: { methods: ['GET'], maxUses: 150 },
    resources: ['https://api.travel.example/**'],
  },
  {
    action: 'commerce:purchase',
    constraints: { maxAmount: 20_000, currency: 'EUR', maxTotal: 50_000 },
    resources: ['hotel/*'],
  },
  { action: 'commerce:purchase', constraints: { maxAmount: 5_000, currency: 'USD', maxTotal: 91_000 } },
];

/** The Grant at position `i`, not revoked. */
export const grantTo = (agent: string, i: number): GrantSummary =>
  ({
    ...{ id: GRANTS[i % GRANTS.length], principal: DID, agent },
    ...{ status_list: 'https://status.svc.test/acme/1', status_list_index: i },
    ...{ allocated_at: `2026-11-0${(i % 9) + 1}T08:00:00.000Z`, revoked_at: null, state: 'active' },
  }) as GrantSummary;

const consumptionOf = (id: string): Consumption => {
  const at = GRANTS.indexOf(id);
  const capabilities = BALANCES[at] ?? [];
  return {
    ...{ grant_id: id, principal: DID, agent: AGENTS[at === 2 ? 1 : 0] },
    ...{ version: capabilities.length, as_of: AT, snapshot_hash: KEY('7'), next_cursor: null },
    capabilities,
    events: capabilities.map(({ key }, i) => ({
      ...{ version: capabilities.length - i, key, delta_total: 100, delta_period: 0, delta_uses: 1 },
      ...{ period_start: null, cause: 'consume', recorded_at: AT },
      ...{ cause_id: RECEIPT(Number(key[7])), receipt_id: RECEIPT(Number(key[7])) },
    })),
  } as unknown as Consumption;
};

/** Calls that changed something, in order. */
export interface Changes {
  readonly asked: unknown[];
  /** The error that answers the next change. */
  failWith: ApiError | null;
  /** A revocation waits for it. */
  heldBy: Promise<void> | null;
}

export const principalHandlers = () => {
  const changes: Changes = { asked: [], failWith: null, heldBy: null };
  const revoked = new Map<string, string>();
  let pauses: Pause[] = [];
  const change = (what: unknown) => {
    changes.asked.push(what);
    const { failWith } = changes;
    changes.failWith = null;
    if (failWith !== null) throw failWith;
  };
  const handlers: NonNullable<Served['handlers']> = {
    listGrants: async ({ query }) => ({
      status: 200,
      body: {
        grants: GRANTS.map((id, i) => ({
          ...grantTo(AGENTS[i === 2 ? 1 : 0], i),
          revoked_at: revoked.get(id) ?? null,
          state: revoked.has(id) ? 'revoked' : 'active',
        })).filter(({ state }) => query.state === undefined || state === query.state) as never,
        next_cursor: null,
      },
    }),
    getPrincipalActivity: async ({ query: { by } }) => ({
      status: 200,
      body: {
        ...{ since: '2026-10-22T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z', by },
        ...{ counted: 480, complete: true, groups_total: GROUPS[by].length, groups: GROUPS[by] },
      },
    }),
    getGrantConsumption: async ({ params }) => ({ status: 200, body: consumptionOf(params.id) }),
    getPrincipalDecision: async ({ params: { receipt_id: id } }) => {
      const authority = AUTHORITIES[Number(id.at(-1)) - 1];
      return { status: 200, body: { receipt: { receipt_id: id, authority } as never, outcomes: [] } };
    },
    revokeGrant: async ({ body: { grant_id: id } }) => {
      await changes.heldBy;
      change({ revoke: id });
      revoked.set(id, AT);
      return { status: 200, body: { grant_id: id, revoked: true, revoked_at: AT } };
    },
    disableAgent: async ({ params: { did } }) => {
      change({ disable: did });
      return { status: 200, body: { did, disabled_at: AT, revoked_grants: [] } };
    },
    listPauses: async () => ({ status: 200, body: { pauses, next_cursor: null } }),
    pause: async ({ body: { scope, subject, reason } }) => {
      change({ pause: scope, subject, ...(reason === undefined ? {} : { reason }) });
      const paused: Pause = {
        ...{ scope, subject, principal: null, reason: reason ?? null, paused_at: AT },
        paused_by: { kind: 'principal', did: DID as never, key_id: '3fa1c09be742' as never },
      };
      pauses = [...pauses, paused];
      return { status: 200, body: paused };
    },
    resume: async ({ body: { scope, subject } }) => {
      change({ resume: scope, subject });
      pauses = pauses.filter((one) => one.scope !== scope || one.subject !== subject);
      return { status: 200, body: { scope, subject, paused: false, resumed_at: AT } };
    },
  };
  return { handlers, changes };
};
