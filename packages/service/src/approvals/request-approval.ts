/**
 * Asking a Principal to approve one Action that was denied (protocol §16). What is asked for comes from the stored decision alone: the
 * caller names its Receipt. Nothing is decided here, and no decision reads what is stored.
 */
import {
  type Action,
  CHECK_IDS,
  type CheckId,
  type CheckOutcome,
  capabilityForOnce,
  encodeUlid,
  isJsonObject,
  type JsonObject,
  jcs,
  parseAction,
  parseStrictJson,
  type ReceiptId,
  sha256Of,
} from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { RpCaller } from '../access/caller.ts';
import { holdLiveKey } from '../access/live-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, invalidRequest, notFound, rateLimited } from '../errors.ts';
import type { ApprovalAsk, ApprovalLoad, ApprovalRecord } from '../ports/approvals.ts';
import type { DecisionExportRecord } from '../ports/decisions.ts';

export interface ApprovalOrder {
  readonly receiptId: ReceiptId;
  /** How long the Principal has. */
  readonly expiresInSeconds: number;
  readonly requestId: string;
}

/** A denial that is older is asked about again first. */
const DENIED_WITHIN_MS = 3_600_000;
/** Denials that one request stands for. */
const RECEIPTS_EACH = 100;

/** Open at a time, and made in an hour. */
const LIMITS: readonly {
  readonly of: Exclude<keyof ApprovalLoad, 'deniedAtMs'>;
  readonly most: number;
  readonly what: string;
  readonly retryAfterSeconds: number;
}[] = [
  { of: 'ofAgent', most: 5, what: 'requests of this Agent wait for this Principal', retryAfterSeconds: 60 },
  { of: 'ofPair', most: 10, what: 'of your requests wait for this Principal', retryAfterSeconds: 60 },
  { of: 'toPrincipal', most: 50, what: 'requests wait for this Principal', retryAfterSeconds: 60 },
  { of: 'ofRelyingParty', most: 1_000, what: 'of your requests are open', retryAfterSeconds: 60 },
  {
    of: 'ofPairLately',
    most: 20,
    what: 'requests were made by you to this Principal within an hour',
    retryAfterSeconds: 600,
  },
  {
    of: 'toPrincipalLately',
    most: 100,
    what: 'requests were made to this Principal within an hour',
    retryAfterSeconds: 600,
  },
];

/**
 * Answers the one request that stands for this denial, made now or before. `NOT_FOUND`: no decision of the caller; `CONFLICT`: not one that
 * can be approved; `RATE_LIMITED`: too much is asked already.
 */
export const requestApproval = async (
  deps: ServiceDeps,
  caller: RpCaller,
  { receiptId, expiresInSeconds, requestId }: ApprovalOrder,
): Promise<ApprovalRecord> => {
  const known = await deps.store.approvals.findOfReceipt(receiptId);
  if (known?.relyingParty === caller.subject) return known;
  const { ask, action } = await readDenial(deps, caller, receiptId);
  return deps.store.transaction(
    async (tx) => {
      await holdLiveKey(tx, caller);
      await tx.approvals.lock(ask);
      const before = await tx.approvals.findOfReceipt(receiptId);
      if (before !== null) return before;
      const open = await tx.approvals.findOpen(ask);
      if (open === null) assertRoom(await tx.approvals.count(ask), deps.clock.nowMs());
      const id = open?.requestId ?? `arq_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}`;
      const request =
        open ?? (await tx.approvals.insert({ ...ask, requestId: id, action, expiresInSeconds }));
      if (!(await tx.approvals.addReceipt(id, receiptId, RECEIPTS_EACH)))
        throw rateLimited(
          `${RECEIPTS_EACH} denials of this Action ask for the same already: wait for the answer to ${id}.`,
          60,
        );
      if (open === null) {
        const details = { principal: ask.principal, receipt_id: receiptId };
        const audited = { action: 'approval.request', target: id, requestId, details } as const;
        await tx.audit.insert(auditEvent(deps, caller, audited));
      }
      return request;
    },
    { turn: caller.subject },
  );
};

const assertRoom = (load: ApprovalLoad, nowMs: number): void => {
  if (load.deniedAtMs !== null) {
    const hours = Math.ceil((load.deniedAtMs + 86_400_000 - nowMs) / 3_600_000);
    throw conflict(`The Principal has denied this. It can be asked for again in ${Math.max(1, hours)} h.`);
  }
  for (const { of, most, what, retryAfterSeconds } of LIMITS)
    if (load[of] >= most)
      throw rateLimited(
        `${most} ${what}, which is the limit: wait until some are decided, or cancel some.`,
        retryAfterSeconds,
      );
};

interface Denial {
  readonly ask: ApprovalAsk;
  readonly action: Action;
}

const readDenial = async (deps: ServiceDeps, caller: RpCaller, receiptId: ReceiptId): Promise<Denial> => {
  const { store, clock, crypto } = deps;
  const [row] = await store.report(({ decisions }) => decisions.listForExport([receiptId]));
  if (row === undefined || row.relyingParty !== caller.subject) throw notFound(`No decision ${receiptId}.`);
  if (row.decision === 'ALLOW') throw conflict('The decision is an ALLOW: there is nothing to approve.');
  const problem = findUnapprovable(outcomesOf(row));
  if (problem !== null)
    throw conflict(`${problem} Only a denial whose P1 to P15 and trust checks hold can be approved.`);
  if (clock.nowMs() - row.evaluatedAtMs > DENIED_WITHIN_MS)
    throw conflict('The denial is older than an hour: verify again, and ask about that Receipt.');
  if (caller.relyingParty.profile !== 'svc-base-v2')
    throw conflict(
      `Your profile is ${caller.relyingParty.profile}, which knows no maxUses: a Grant for one use would be denied with UNKNOWN_CONSTRAINT. Have your operator set svc-base-v2.`,
    );
  if (caller.isPaused) throw conflict('You are paused: nothing would be allowed. Resume first.');
  const { principal, grantId, agent } = row;
  const action = actionOf(row);
  // P3, P9 and P15 are true.
  if (principal === null || grantId === null || agent === null || action === null)
    throw internal(`decision ${receiptId} without its parts`);
  if (capabilityForOnce(action) === null)
    throw invalidRequest(
      'receipt_id: the resource of the Action has an asterisk or is longer than 512 characters, so no Grant can name it alone',
    );
  const [facts] = await store.verify.findFacts([{ issuer: principal, grantId }]);
  const grant = facts?.grant ?? null;
  if (facts?.principal == null || grant?.principal !== principal)
    throw conflict('The Principal is not registered here any more.');
  if (grant.revocationRecordedAtMs !== null) throw conflict('The Grant has been revoked since.');
  if (grant.isPaused) throw conflict('The Grant, its Agent or its Principal is paused. Ask once it goes on.');
  const relyingParty = caller.relyingParty.did;
  const actionHash = sha256Of(crypto, jcs({ ...action }));
  return { ask: { relyingParty, principal, grantId, agent, actionHash }, action };
};

type Outcomes = Readonly<Partial<Record<CheckId, CheckOutcome>>>;

/** What a Capability allows: all that another Grant of the same Principal to the same Agent can change. */
const APPROVABLE: ReadonlySet<CheckId> = new Set(['P16', 'P17', 'P18', 'P19', 'P20']);

/** Why a denial with these outcomes cannot be approved; null: it can. T5 is skipped in every one but of a Proof that was spent. */
export const findUnapprovable = (outcomes: Outcomes): string | null => {
  const wrong = CHECK_IDS.find(
    (id) => !APPROVABLE.has(id) && outcomes[id] !== (id === 'T5' ? 'skipped' : true),
  );
  if (wrong !== undefined)
    return `The decision failed at ${wrong}${outcomes[wrong] === false ? '' : ', which could not be decided'}.`;
  return [...APPROVABLE].some((id) => outcomes[id] === false)
    ? null
    : 'None of P16 to P20 is false in the decision.';
};

const outcomesOf = ({ receiptId, jws }: DecisionExportRecord): Outcomes => {
  const text = receiptTextOf(jws);
  const json = text === null ? null : parseStrictJson(text);
  if (json === null || !json.ok || !isJsonObject(json.value)) throw internal(`stored receipt ${receiptId}`);
  const checksOf = (group: unknown): JsonObject =>
    isJsonObject(group) && isJsonObject(group.checks) ? group.checks : {};
  return { ...checksOf(json.value.protocol), ...checksOf(json.value.trust) } as Outcomes;
};

const actionOf = ({
  actionType: type,
  amount,
  currency,
  resource,
  method,
}: DecisionExportRecord): Action | null => {
  const parsed = parseAction(
    type === 'api:call' ? { type, method, resource } : { type, resource, amount, currency },
  );
  return parsed.ok ? parsed.value : null;
};
