/** What is paused of the key's own, as the service says it (protocol §9). */
import type { Pause, PauseList } from '../shared/wire.ts';
import { readPages } from './paged.ts';
import type { Call, Own } from './session.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

export type PauseScope = Exclude<Pause['scope'], 'service'>;

export interface Target {
  readonly scope: PauseScope;
  readonly subject: string;
  /** Org keys: whose Grant or Agent it is. */
  readonly principal?: string;
}

export interface Pauses extends Loaded<readonly Pause[]> {
  readonly find: (target: Target) => Pause | undefined;
  /** What lies above all of its own: its org, or the whole service. */
  readonly above: readonly Pause[];
  /** Why nothing of the Principal's is allowed: it is paused itself, or what lies above it. */
  readonly all: string | null;
  /**
   * Null: it could not be read, or not since it may have changed. Nothing is called active that may be paused. `wider`:
   * with what it is paused, if with anything.
   */
  readonly stateOf: (target: Target, wider?: string | null) => 'active' | 'paused' | null;
}

const WITH: Readonly<Partial<Record<Pause['scope'], string>>> = {
  principal: 'with the Principal',
  org: 'with the org',
  service: 'with the whole service',
};

export const usePauses = (own: Own | null): Pauses => {
  const loaded = useLoaded(() => (own === null ? Promise.resolve([]) : listPauses(own.call)), [own]);
  const all = loaded.value ?? [];
  const find = ({ scope, subject }: Target) =>
    all.find((one) => one.scope === scope && one.subject === subject);
  const isOwnOrg = own?.me.role.startsWith('org:') === true;
  return {
    ...loaded,
    find,
    stateOf: (target, wider = null) => {
      if (loaded.value === null || loaded.problem !== null) return null;
      return find(target) === undefined && wider === null ? 'active' : 'paused';
    },
    above: all.filter(({ scope }) => scope === 'service' || (scope === 'org' && !isOwnOrg)),
    all: all.map(({ scope }) => WITH[scope]).find((text) => text !== undefined) ?? null,
  };
};

const listPauses = async (call: Call): Promise<readonly Pause[]> => {
  // More of its own than these pages have is hardly ever paused.
  const { rows } = await readPages<Pause>(async (cursor) => {
    const query = { limit: '200', ...(cursor !== null && { cursor }) };
    const { pauses, next_cursor: next } = await call<PauseList>('pauses', { query });
    return { rows: pauses, next };
  });
  return rows;
};

export const setPaused = (
  call: Call,
  { principal, ...target }: Target,
  paused: boolean,
  reason = '',
): Promise<unknown> =>
  call(paused ? 'pauses' : 'pauses/resume', {
    query: { principal },
    body: { ...target, ...(reason !== '' && { reason }) },
  });
