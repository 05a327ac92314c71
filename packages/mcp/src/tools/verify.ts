/** `verify_receipt` and `explain_denial`: what a Receipt proves, offline, and why a decision was a DENY. */

import { factsOf } from '@svc/cli/receipt-facts';
import { recognise, serviceOf } from '@svc/cli/recognise';
import { serviceHost } from '@svc/cli/service-host';
import { summarize } from '@svc/cli/summary';
import { optionsOf } from '@svc/cli/verdict';
import { CHECKS, REASON_TEXTS } from '@svc/protocol';
import { demandOf, REMEDIES } from '@svc/protocol/explain';
import { nativeCrypto } from '@svc/protocol/native';
import { type Failure, type Receipt, type Verdict, verdictOf, verifyReceipt } from '@svc/receipts';
import { type VerifiedBundle, verifyBundle } from '@svc/receipts/bundle';
import { SvcError } from '@svc/sdk-principal';
import type { Trust } from '../settings.ts';
import type { Teller, ToolResult } from '../tool-result.ts';
import type { VerifiableText } from './fetch-receipt.ts';

/** Greatest length of the given text: that of the largest bundle. */
export const MAX_GIVEN_CHARS = 4_194_304;

interface Verified {
  readonly receipt: Receipt | null;
  readonly kid: string | null;
  readonly attestation: Extract<VerifiedBundle, { readonly ok: true }>['attestation'];
  readonly day: string | null;
  readonly failures: readonly Failure<string>[];
}

/** A leaked key is trusted for no longer than this, and a new key is known within this time. */
const DOCUMENT_USED_FOR_MS = 300_000;

/** The service's document: the configured file, or fetched from the host of the service's DID. */
export const createDocument = (
  { document, did }: Trust,
  fetchDocument = () => serviceHost(did ?? '').fetchDocument(),
  now: () => number = Date.now,
): (() => Promise<string>) => {
  if (document !== undefined) return () => Promise.resolve(document);
  let kept: { readonly text: string; readonly atMs: number } | null = null;
  return async () => {
    if (kept === null || Math.abs(now() - kept.atMs) >= DOCUMENT_USED_FOR_MS)
      kept = { atMs: now(), text: await fetchDocument() };
    return kept.text;
  };
};

const verify = async (text: string, trust: Trust, document: () => Promise<string>): Promise<Verified> => {
  const given = recognise(text);
  const serviceDidDocument = await document();
  const { did: serviceDid } = trust;
  if (given.kind === 'bundle') {
    const pin = serviceDid === undefined ? { serviceDidDocument } : { serviceDidDocument, serviceDid };
    const verified = verifyBundle(given.text, pin, nativeCrypto);
    if (!verified.ok) return { ...NOTHING_BESIDE, receipt: null, kid: null, failures: verified.failures };
    const { receipt, kid, attestation, checkpoint } = verified;
    return { receipt, kid, attestation, day: checkpoint.day, failures: [] };
  }
  const verified = verifyReceipt(given.receipt, serviceDidDocument, optionsOf({ serviceDid }));
  if (!verified.ok) {
    const kid = serviceOf(given.receipt);
    return { ...NOTHING_BESIDE, receipt: null, kid, failures: verified.failures };
  }
  return { ...NOTHING_BESIDE, receipt: verified.receipt, kid: verified.kid, failures: [] };
};

/** What a Receipt without a bundle lacks. */
const NOTHING_BESIDE = { attestation: null, day: null } as const;

const SAYS: Readonly<Record<Verdict, string>> = {
  valid: 'VALID: the service that is trusted here signed exactly this.',
  invalid: 'INVALID: do not rely on it. "failures" says what is wrong.',
  undecided: 'NOT DECIDED: "failures" says what is missing. Do not rely on it until then.',
};

/**
 * The first check of both tools.
 * @throws SvcError `bad-response` for a genuine Receipt of a decision other than the requested one
 */
const look = async ({ text, receiptId }: VerifiableText, trust: Trust, document: () => Promise<string>) => {
  const verified = await verify(text, trust, document);
  const { receipt, kid, attestation, failures, day } = verified;
  if (receiptId !== null && receipt !== null && receipt.receipt_id !== receiptId)
    throw new SvcError(
      'bad-response',
      `asked for ${receiptId}, the service answered with ${receipt.receipt_id}`,
    );
  const verdict = verdictOf(failures);
  const summary = summarize(verdict, { receipt, kid, failures, isOnOwnWord: false, day });
  const data = { verdict, summary, in_checkpoint_of: day, ...factsOf(receipt, kid, attestation), failures };
  return { verdict, receipt, data };
};

export const createVerify = (trust: Trust, document: () => Promise<string>, { tell }: Teller) => {
  return async (found: VerifiableText): Promise<ToolResult> => {
    const { verdict, data } = await look(found, trust, document);
    return tell(SAYS[verdict], data);
  };
};

/**
 * Explains what the failed checks demand, besides the reason and its remedy. An unverified Receipt is not explained.
 * `hasBudgets`: there is a tool that shows what is left of the budgets.
 */
export const createExplain = (
  trust: Trust,
  document: () => Promise<string>,
  { tell, refuse }: Teller,
  hasBudgets: boolean,
) => {
  return async (found: VerifiableText): Promise<ToolResult> => {
    const { verdict, receipt, data } = await look(found, trust, document);
    if (receipt === null) return refuse(SAYS[verdict], data);
    if (receipt.reason === null) return tell('It is an ALLOW: there is nothing to explain.', data);
    const { checks, ...facts } = data;
    const failed = CHECKS.filter(({ id }) => checks?.failed.includes(id)).map((check) => ({
      check: check.id,
      demands: demandOf(check),
    }));
    const { reason } = receipt;
    const next =
      reason === 'AMOUNT_EXCEEDS_AUTHORITY' && hasBudgets ? ' grant_budgets tells what is left.' : '';
    const says = `DENY, ${reason}: ${REASON_TEXTS[reason]} What to do: ${REMEDIES[reason]}${next}`;
    return tell(says, { failed_checks: failed, ...facts });
  };
};
