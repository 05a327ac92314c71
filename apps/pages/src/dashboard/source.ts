/** Where the dashboard's figures and decisions come from. */
import { callApi } from '../shared/api.ts';
import type { Attestation, Decision, DecisionList, DecisionStats, Me, Usage } from '../shared/wire.ts';

export interface Period {
  readonly since: string;
  readonly until: string;
}

export interface DecisionQuery extends Period {
  readonly decision: string;
  readonly reason: string;
  readonly principal: string;
  readonly grant_id: string;
  readonly cursor: string | null;
}

/** What is not there is null, as a whole: whoever may not see it is not shown the place for it. */
export interface Source {
  readonly usage: (period: Period) => Promise<Usage>;
  readonly stats: ((period: Period) => Promise<DecisionStats>) | null;
  readonly decisions: {
    readonly list: (query: DecisionQuery) => Promise<DecisionList>;
    readonly get: (receiptId: string) => Promise<Decision>;
    /** Null until the day of the decision is closed. */
    readonly getBundle: ((receiptId: string) => Promise<object | null>) | null;
    readonly reportOutcome: ((receiptId: string, event: object) => Promise<Attestation>) | null;
  } | null;
}

const PAGE_SIZE = '20';

/** What `key` may see of this service. Every call rejects with ApiProblem. */
export const sourceOfKey = (key: string, { role }: Me): Source => ({
  usage: async (query) => (await callApi<Usage>('usage', { key, query: { ...query } })).body,
  stats:
    role === 'principal'
      ? null
      : async (query) => (await callApi<DecisionStats>('decisions/stats', { key, query: { ...query } })).body,
  decisions:
    role === 'rp' || role.startsWith('org:')
      ? {
          list: async ({ cursor, ...query }) => {
            const asked = { ...query, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
            return (await callApi<DecisionList>('decisions', { key, query: asked })).body;
          },
          get: async (receiptId) => (await callApi<Decision>(`decisions/${receiptId}`, { key })).body,
          getBundle: async (receiptId) => {
            const { status, body } = await callApi<object>(`decisions/${receiptId}/bundle`, { key });
            return status === 202 ? null : body;
          },
          reportOutcome:
            role === 'org:read'
              ? null
              : async (receiptId, body) =>
                  (await callApi<Attestation>(`decisions/${receiptId}/outcomes`, { key, body })).body,
        }
      : null,
});
