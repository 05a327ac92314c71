import { callApi } from '../shared/api.ts';
import type { Me } from '../shared/wire.ts';
import type { Source } from './source.ts';

/** A call with the key of this tab: POST with a body or null for none, GET without either. Rejects with ApiProblem. */
export type Call = <T>(
  path: string,
  options?: { readonly body?: object | null; readonly query?: Readonly<Record<string, string | undefined>> },
) => Promise<T>;

/** Whose decisions are looked at, and where they come from. */
export interface Session {
  readonly title: string;
  /** A DID, or the id of an org. */
  readonly subject: string;
  /** One line. */
  readonly about: string;
  readonly role: Me['role'] | 'playground';
  readonly source: Source;
  /** Null: nothing but decisions is there to be seen. */
  readonly own: Own | null;
}

/** What its key may do besides. */
export interface Own {
  readonly me: Me;
  readonly call: Call;
  /** False: the key only reads. */
  readonly mayAct: boolean;
}

export const ownOf = (key: string, me: Me): Own | null =>
  me.role === 'observer'
    ? null
    : {
        me,
        call: async <T>(path: string, options = {}) => (await callApi<T>(path, { key, ...options })).body,
        mayAct: me.role !== 'org:read',
      };
