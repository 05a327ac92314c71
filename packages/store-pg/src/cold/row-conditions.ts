/**
 * The filter of a search as conditions on the columns of a cold day, without the range of ids. For PostgreSQL see
 * `decision-search/statements.ts`.
 */
import type { Condition } from '@svc/cold-ledger';
import { REASON_CODES } from '@svc/protocol';
import type { Search } from '../decision-search/search.ts';

type RowFilter = Pick<Search, 'relyingParties' | 'principal' | 'keyId' | 'grantId' | 'reason' | 'decision'>;

export const rowConditions = (asked: RowFilter): Condition[] => {
  const { relyingParties, principal, keyId, grantId, reason, decision } = asked;
  return [
    ...(relyingParties === null ? [] : [{ column: 'relying_party', oneOf: relyingParties }]),
    ...(principal === undefined ? [] : [{ column: 'principal', oneOf: [principal] }]),
    ...(keyId === undefined ? [] : [{ column: 'key_id', oneOf: [keyId] }]),
    ...(grantId === undefined ? [] : [{ column: 'grant_id', oneOf: [grantId] }]),
    ...(reason === undefined ? [] : [{ column: 'reason', oneOf: [reason] }]),
    ...(decision === undefined
      ? []
      : [{ column: 'reason', oneOf: decision === 'ALLOW' ? [null] : REASON_CODES }]),
  ];
};
