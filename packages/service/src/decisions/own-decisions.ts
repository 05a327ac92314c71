/**
 * The decisions about a Principal's own Grants, for it and its org (protocol §13). They are shown as to relying
 * parties, without the relying party's internal data: which of its keys asked, and the free texts of its outcome
 * reports.
 */
import { type DidWeb, isJsonObject, parseStrictJson, type ReceiptId } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { Caller } from '../access/caller.ts';
import { principalScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import type { Page } from '../paging/page.ts';
import type { DecisionRecord, ExportedForm } from '../ports/decisions.ts';
import type { OutcomeRecord } from '../ports/outcomes.ts';
import type { DecisionQuery } from './decision-page.ts';
import { type DecisionExport, type ExportedDecision, exportDecisions } from './export-decisions.ts';
import type { RecordedDecision } from './get-decision.ts';
import { listDecisions } from './list-decisions.ts';

type Deps = Pick<ServiceDeps, 'store'>;
export type OwnDecisionQuery = Omit<DecisionQuery, 'principal' | 'key_id' | 'ownerDid'> & {
  readonly ownerDid: DidWeb;
};

export const listOwnDecisions = async (
  deps: ServiceDeps,
  caller: Caller,
  query: OwnDecisionQuery,
): Promise<Page<DecisionRecord>> => {
  const { items, nextCursor } = await listDecisions(deps, caller, query);
  return { items: items.map(withoutKey), nextCursor };
};

export const exportOwnDecisions = async (
  deps: Deps,
  caller: Caller,
  query: OwnDecisionQuery,
  form: ExportedForm,
): Promise<DecisionExport> => {
  const { batches, ...found } = await exportDecisions(deps, caller, query, form);
  return { ...found, batches: asOwn(batches) };
};

async function* asOwn(
  batches: AsyncIterable<readonly ExportedDecision[]>,
): AsyncGenerator<readonly ExportedDecision[]> {
  for await (const rows of batches)
    yield rows.map(({ decision, outcomes }) => ({
      decision: withoutKey(decision),
      outcomes: outcomes.map(withoutWords),
    }));
}

export const getOwnDecision = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  receiptId: ReceiptId,
): Promise<RecordedDecision> => {
  const { store } = deps;
  const { heldSinceMs } = await principalScope(deps, caller, did, undefined);
  const receipt = await store.receipts.find(receiptId);
  const text = receipt === null ? null : receiptTextOf(receipt.jws);
  if (receipt !== null && text === null) throw internal(`stored receipt ${receiptId}`);
  if (receipt === null || text === null || !isHeldBy(did, heldSinceMs, text))
    throw notFound(`No decision ${receiptId} about a Grant of this Principal.`);
  const outcomes = await store.outcomes.listOfReceipts([receiptId]);
  return { receiptText: text, jws: receipt.jws, outcomes: outcomes.map(withoutWords) };
};

/**
 * True when the Receipt is about a Grant of this Principal and not older than `sinceMs`. A Receipt names a Principal
 * where P3 is true, and only there (protocol §8).
 */
const isHeldBy = (did: DidWeb, sinceMs: number, text: string): boolean => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value)) return false;
  const { principal, evaluated_at: at } = json.value;
  if (principal === undefined || !isJsonObject(principal) || principal.id !== did) return false;
  return typeof at === 'string' && Date.parse(at) >= sinceMs;
};

const withoutKey = <Row extends DecisionRecord>(row: Row): Row => ({ ...row, keyId: null });
const withoutWords = (one: OutcomeRecord): OutcomeRecord => ({
  ...one,
  ...{ evidenceRef: null, note: null, reporterSignature: null },
});
