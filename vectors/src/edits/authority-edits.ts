/** Edits of the Action and of the Capability that should allow it. */
import { API_CALL, type Members, type Scene } from '../scene.ts';
import type { Covers } from '../vector-case.ts';

export const purchase =
  (list: readonly Members[], action: Members = {}) =>
  (s: Scene) => {
    Object.assign(s.action, action);
    s.grant.subject.capabilities = list;
  };

export const call =
  (list: readonly Members[], action: Members = {}) =>
  (s: Scene) => {
    s.action = { ...API_CALL, ...action };
    s.grant.subject.capabilities = list;
  };

export const NOT_20: Covers = { P19: true, P20: false, T5: 'skipped' };
