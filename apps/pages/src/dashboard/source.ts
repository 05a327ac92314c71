/** Where the dashboard's figures and decisions come from. */
import { callApi } from '../shared/api.ts';
import type { Decision, DecisionList, DecisionStats, Me, OutcomeRecord, Usage } from '../shared/wire.ts';

export interface Period {
  readonly since: string;
  readonly until: string;
}

/** The Receipt whose outcome is reported. */
export interface Reported {
  readonly receipt_id: string;
  readonly relying_party: string;
}

export interface DecisionQuery extends Period {
  readonly decision: string;
  readonly reason: string;
  readonly principal: string;
  readonly rp: string;
  readonly grant_id: string;
  readonly cursor: string | null;
}

/** Reports of the outcomes of decisions. */
export interface Outcomes {
  /** The time of the clock that dates Receipts. Rejects where the service does not answer it. */
  readonly getServiceTime: () => Promise<string>;
  readonly report: (receipt: Reported, event: object) => Promise<OutcomeRecord>;
}

/** A member is null where the key may not see that data; the dashboard then does not show the place for it. */
export interface Source {
  readonly usage: (period: Period) => Promise<Usage>;
  readonly stats: ((period: Period) => Promise<DecisionStats>) | null;
  readonly decisions: {
    /**
     * The other party of each decision, by which the list can be filtered: a shop has many Principals, and a Principal
     * uses many shops.
     */
    readonly other: 'principal' | 'rp';
    readonly list: (query: DecisionQuery) => Promise<DecisionList>;
    readonly get: (receiptId: string) => Promise<Decision>;
    /** The call resolves with null until the day of the decision is closed. */
    readonly getBundle: ((receiptId: string) => Promise<object | null>) | null;
    /** Available to the relying party that the Receipt names. */
    readonly outcomes: Outcomes | null;
  } | null;
}

const PAGE_SIZE = '20';

/** What `key` may see of this service. Every call rejects with ApiProblem. */
export const sourceOfKey = (key: string, me: Me): Source =>
  me.role === 'principal' ? sourceOfPrincipal(key, me.subject) : sourceOfRole(key, me.role);

/**
 * The decisions about the Principal's own Grants, whichever relying party asked. Bundles and reports belong to the
 * relying party.
 */
const sourceOfPrincipal = (key: string, did: string): Source => {
  const own = `principals/${encodeURIComponent(did)}/decisions`;
  return {
    usage: async (query) => (await callApi<Usage>('usage', { key, query: { ...query } })).body,
    stats: async (query) => (await callApi<DecisionStats>(`${own}/stats`, { key, query: { ...query } })).body,
    decisions: {
      other: 'rp',
      list: listIn(own, key),
      get: async (receiptId) => (await callApi<Decision>(`${own}/${receiptId}`, { key })).body,
      getBundle: null,
      outcomes: null,
    },
  };
};

const serviceTimeOf = (key: string) => async (): Promise<string> => {
  let time: string | null = null;
  const onHeaders = (headers: Headers) => {
    time = headers.get('Svc-Time');
  };
  await callApi<Me>('me', { key, onHeaders });
  if (time !== null) return time;
  throw new Error('The service does not say what time it is, so nothing was recorded. Try again later.');
};

const listIn =
  (path: string, key: string) =>
  async ({ cursor, ...query }: DecisionQuery): Promise<DecisionList> => {
    const asked = { ...query, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    return (await callApi<DecisionList>(path, { key, query: asked })).body;
  };

const sourceOfRole = (key: string, role: Me['role']): Source => ({
  usage: async (query) => (await callApi<Usage>('usage', { key, query: { ...query } })).body,
  stats: async (query) =>
    (await callApi<DecisionStats>('decisions/stats', { key, query: { ...query } })).body,
  decisions:
    role === 'rp' || role.startsWith('org:')
      ? {
          other: 'principal',
          list: listIn('decisions', key),
          get: async (receiptId) => (await callApi<Decision>(`decisions/${receiptId}`, { key })).body,
          getBundle: async (receiptId) => {
            const { status, body } = await callApi<object>(`decisions/${receiptId}/bundle`, { key });
            return status === 202 ? null : body;
          },
          outcomes:
            role === 'org:read'
              ? null
              : {
                  getServiceTime: serviceTimeOf(key),
                  report: async ({ receipt_id: id, relying_party: rp }, body) => {
                    // An org reports for one of its members; a relying party reports only for itself.
                    const query = role === 'rp' ? {} : { subject: rp };
                    return (await callApi<OutcomeRecord>(`decisions/${id}/outcomes`, { key, body, query }))
                      .body;
                  },
                },
        }
      : null,
});
