import type { DidWeb } from '@svc/protocol';
import type { DecisionListFilter } from '@svc/service';

/**
 * The filter of a search. `principal` null: receipts whose Grant was authenticated and whose Principal was not
 * verified.
 */
export interface Search extends Omit<DecisionListFilter, 'principal'> {
  readonly principal?: DidWeb | null | undefined;
}
