/**
 * Checks a statement about a lost span, part by part: whether the service signed it, and whether it is shown as signed.
 */
import { verifyRestoreStatement } from '@svc/transparency';
import type { Part } from '../shared/part.ts';
import type { Restore } from '../shared/wire.ts';
import type { Service } from './check-day.ts';
import { isOpen } from './open.ts';

const SIGNED_MEMBERS = ['epoch', 'lost_from', 'lost_until', 'quarantined_until'] as const;

export const checkRestore = (shown: Restore, { keys }: Service): readonly Part[] => {
  const signed = verifyRestoreStatement({ statement: shown.statement, serviceDidDocument: keys });
  const signature = {
    ...{ id: 'signature', name: 'Signature', means: 'The service signed this statement.' },
    ...(signed.ok
      ? { state: 'ok' as const, failures: [] }
      : {
          state: isOpen(signed.failures) ? ('unchecked' as const) : ('wrong' as const),
          failures: signed.failures,
        }),
  };
  const content = { id: 'content', name: 'Content', means: 'What is shown is what was signed.' };
  if (!signed.ok) return [signature, { ...content, state: 'unchecked', failures: [] }];
  const failures = SIGNED_MEMBERS.filter((member) => shown[member] !== signed.statement[member]).map(
    (member) => ({ code: 'other-content', message: `${member} was signed as ${signed.statement[member]}.` }),
  );
  return [signature, { ...content, state: failures.length === 0 ? 'ok' : 'wrong', failures }];
};
