import { callApi } from '../shared/api.ts';
import type { Me } from '../shared/wire.ts';
import { callsLeft, NotNow } from './calls-left.ts';
import type { Source } from './source.ts';

/**
 * A call with the key of this tab: POST with a body, or with null for none; GET without either. Rejects with
 * ApiProblem, or with NotNow where the call is unasked and few calls are left.
 */
export type Call = <T>(
  path: string,
  options?: {
    readonly body?: object | null;
    readonly query?: Readonly<Record<string, string | undefined>>;
    /** No user asked for it: it is not sent while the key has few calls left in this minute. */
    readonly isUnasked?: boolean;
  },
) => Promise<T>;

/** Whose decisions are shown, and where they come from. */
export interface Session {
  readonly title: string;
  /** A DID, or the id of an org. */
  readonly subject: string;
  /** One line. */
  readonly about: string;
  readonly role: Me['role'] | 'playground';
  readonly source: Source;
  /** Null where nothing but decisions can be shown. */
  readonly own: Own | null;
}

/** What else the key may do. */
export interface Own {
  readonly me: Me;
  readonly call: Call;
  /** False where the key may only read. */
  readonly mayAct: boolean;
}

export const ownOf = (key: string, me: Me): Own | null =>
  me.role === 'observer' ? null : { me, call: callWith(key), mayAct: me.role !== 'org:read' };

const callWith = (key: string): Call => {
  const left = callsLeft();
  return async <T>(path: string, { isUnasked = false, ...options }: Parameters<Call>[1] = {}) => {
    if (isUnasked && !left.areEnough()) throw new NotNow();
    return (await left.during(callApi<T>(path, { key, onHeaders: left.note, ...options }))).body;
  };
};
