/** The pauses that affect the subject of the key, as the service answers them (protocol §9). */

import { readPages } from '../shared/paged.ts';
import { type Loaded, useLoaded } from '../shared/use-loaded.ts';
import type { Pause, PauseList } from '../shared/wire.ts';
import type { Call, Own } from './session.ts';

export type PauseScope = Exclude<Pause['scope'], 'service'>;

export interface Target {
  readonly scope: PauseScope;
  readonly subject: string;
  /** For org keys: the Principal whose Grant or Agent this is. */
  readonly principal?: string;
}

export interface Pauses extends Loaded<readonly Pause[]> {
  readonly find: (target: Target) => Pause | undefined;
  /** Pauses with a wider scope than the subject: of its org, or of the whole service. */
  readonly above: readonly Pause[];
  /** Why the Principal is allowed nothing: with what it is paused, itself or a wider scope. Null where it is not. */
  readonly all: string | null;
  /**
   * Null where the state could not be read, or not since a change that may have altered it: nothing that may be paused
   * is shown as active. `wider` names a wider scope whose pause includes this target, or is null.
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
  // A subject hardly ever has more pauses than these pages hold.
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
