/** What the service answers the dashboard's tests: a month of a shop, drawn by a fixed rule. */
import type { Body, Routes } from '@svc/contract';
import { DAY_MS, dayOf } from '@svc/protocol';
import { bodyOf } from '@svc/testkit/receipts/signed-receipts';

const RP = 'did:web:svc.test:rp:shop';
const REASONS = [
  'AMOUNT_EXCEEDS_AUTHORITY',
  'PROOF_EXPIRED',
  'AUTHORITY_REVOKED',
  'PROOF_REPLAYED',
  'RESOURCE_NOT_AUTHORIZED',
] as const;

type Usage = Body<Routes['getUsage'], 200>;
type Stats = Body<Routes['getDecisionStats'], 200>;
type Me = Body<Routes['getMe'], 200>;

const me = {
  key_id: '3fa1c09be742',
  service_did: 'did:web:svc.test',
  env: 'development',
  key_label: 'shop backend',
  key_created_at: '2026-11-01T08:00:00.000Z',
} as const;

const org = {
  org_id: 'org_01KAGT3Z5M8Q2R7V9X1C4E6H8M',
  slug: 'acme',
  name: 'Acme',
  created_at: '2026-11-01T08:00:00.000Z',
};

export const ME = {
  rp: { ...me, subject: RP, role: 'rp', name: 'The Shop', proof_window_seconds: 60 },
  principal: { ...me, subject: 'did:web:acme.example', role: 'principal' },
  observer: { ...me, subject: 'did:web:svc.test', role: 'observer', scope: ['GET /usage'] },
  org: { ...me, subject: org.org_id, role: 'org:read', org, members: [] },
  orgAdmin: { ...me, subject: org.org_id, role: 'org:admin', org, members: [] },
} satisfies Record<string, Me>;

const allowOf = (i: number): number =>
  180 + Math.round(90 * Math.sin(i / 2.1)) + ((i * 37) % 53) - (i % 7 > 4 ? 70 : 0);
const denyOf = (i: number, reason: number): number =>
  (((i * (reason + 3) + 5 * reason) % 11) >> reason) + (i === 19 ? 12 >> reason : 0);

/** The query arrives parsed; what it is made of does not matter here. */
export const usageFor = (since: unknown, until: unknown): Usage => {
  const [from, to] = [msOf(since), msOf(until)];
  const days = Array.from({ length: (to - from) / DAY_MS }, (_, i) => {
    const reasons = Object.fromEntries(
      REASONS.map((reason, r) => [reason, denyOf(i, r)] as const).filter(([, count]) => count > 0),
    );
    const deny = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    const allow = allowOf(i);
    return {
      day: dayOf(from + i * DAY_MS),
      verifies: allow + deny,
      allow,
      deny,
      reasons,
    };
  });
  const sum = (name: 'verifies' | 'allow' | 'deny') => days.reduce((total, day) => total + day[name], 0);
  return {
    since: new Date(from).toISOString(),
    until: new Date(to).toISOString(),
    rp: RP,
    totals: { verifies: sum('verifies'), allow: sum('allow'), deny: sum('deny') },
    days,
  };
};

const msOf = (instant: unknown): number =>
  typeof instant === 'number'
    ? instant
    : instant instanceof Date
      ? instant.getTime()
      : Date.parse(String(instant));

export const statsFor = (since: unknown, until: unknown): Stats => {
  const usage = usageFor(since, until);
  const { verifies, allow, deny } = usage.totals;
  const part = (principal: string | null, share: number, denied: number) => ({
    principal,
    verifies: Math.round(allow * share) + Math.round(deny * denied),
    allow: Math.round(allow * share),
    deny: Math.round(deny * denied),
    reasons: {},
    outcomes:
      principal === 'did:web:acme.example' ? { fulfilled: 912, dispute_opened: 4, loss_reported: 1 } : {},
    losses: principal === 'did:web:acme.example' ? { USD: 42_700 } : {},
    allow_with_outcome: principal === 'did:web:acme.example' ? 913 : 0,
  });
  return {
    since: usage.since,
    until: usage.until,
    rps: [RP],
    totals: { verifies, allow, deny, allow_with_outcome: 913 },
    principals: [
      part('did:web:acme.example', 0.62, 0.3),
      part('did:web:travel.example', 0.3, 0.25),
      part('did:web:svc.test:org:globex', 0.08, 0.15),
      part(null, 0, 0.3),
    ],
  };
};

export const attestations: Body<Routes['getDecision'], 200>['outcomes'] = [
  {
    attestation_id: 'oat_01KAGT3Z5M8Q2R7V9X1C4E6H81',
    type: 'fulfilled',
    occurred_at: '2026-11-20T12:00:00.000Z',
    recorded_at: '2026-11-20T12:00:03.000Z',
    reporter: RP,
    note: 'Delivered by courier.',
  },
  {
    attestation_id: 'oat_01KAGT3Z5M8Q2R7V9X1C4E6H82',
    type: 'dispute_resolved',
    resolution: 'agent_not_at_fault',
    occurred_at: '2026-11-21T09:00:00.000Z',
    recorded_at: '2026-11-21T09:04:00.000Z',
    reporter: RP,
  },
  {
    attestation_id: 'oat_01KAGT3Z5M8Q2R7V9X1C4E6H83',
    type: 'loss_reported',
    loss_amount: 42_700,
    currency: 'USD',
    occurred_at: '2026-11-22T09:00:00.000Z',
    recorded_at: '2026-11-22T09:04:00.000Z',
    reporter: RP,
  },
];

type DecisionList = Body<Routes['listDecisions'], 200>;

export const DECISIONS: DecisionList['decisions'] = Array.from({ length: 33 }, (_, i) => {
  const reason = i % 4 === 1 ? (REASONS[i % REASONS.length] ?? null) : null;
  const isCall = i % 5 === 3;
  return {
    // Of the first one there is a Receipt.
    receipt_id:
      i === 0 ? bodyOf('allow-purchase').receipt_id : `drc_01KAGT3Z5M8Q2R7V9X1C4E${String(1000 + i)}`,
    decision: reason === null ? 'ALLOW' : 'DENY',
    reason,
    evaluated_at: new Date(Date.UTC(2026, 10, 20, 18) - i * 431_000).toISOString(),
    principal: 'did:web:acme.example',
    grant_id: 'urn:svc:grant:01KAGT3Z5M8Q2R7V9X1C4E6H8M',
    agent: 'did:key:z6MksfbemfxmHksEVufvPpiYfCnHH5VxpcPA9na36GXu3mwS',
    rp: RP,
    key_id: '3fa1c09be742',
    action_type: isCall ? 'api:call' : 'commerce:purchase',
    amount: isCall ? null : 1_900 + ((i * 7_919) % 48_000),
    currency: isCall ? null : 'USD',
    resource: isCall ? `https://api.shop.example/v1/orders/${i}` : `order/${5_117 - i}`,
    method: isCall ? 'GET' : null,
  };
});

/** The decisions that fit, in pages. */
export const listDecisions = (query: {
  readonly decision?: string | undefined;
  readonly reason?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}): DecisionList => {
  const fits = DECISIONS.filter(
    ({ decision, reason }) =>
      decision === (query.decision ?? decision) && reason === (query.reason ?? reason),
  );
  const from = Number(query.cursor ?? 0);
  const end = from + query.limit;
  return { decisions: fits.slice(from, end), next_cursor: end < fits.length ? String(end) : null };
};
