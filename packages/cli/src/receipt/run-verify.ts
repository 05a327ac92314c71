/** `svc-receipt verify`: a Receipt, its inclusion in the checkpoint of its day, or a whole bundle. */
import { nativeCrypto } from '@svc/protocol/native';
import type { Failure, Receipt } from '@svc/receipts';
import { verifyReceipt } from '@svc/receipts';
import type { BundlePin } from '@svc/receipts/bundle';
import { verifyBundle } from '@svc/receipts/bundle';
import { type VerifiedInclusion, verifyReceiptInclusion } from '@svc/transparency';
import type { Paint } from '../report.ts';
import { MAX_BUNDLE_BYTES, readReceipt, readText } from './inputs.ts';
import type { Command } from './options.ts';
import { describeVerified } from './report.ts';
import { answer, type Output, optionsOf, verdictOf } from './verdict.ts';

type VerifyCommand = Extract<Command, { name: 'verify' }>;
type BundleCommand = Extract<Command, { name: 'bundle' }>;

export const runVerify = async (command: VerifyCommand, paint: Paint): Promise<Output> => {
  const document = await readText(command.didDocument, 'the DID document');
  const verified = verifyReceipt(await readReceipt(command.receipt), document, optionsOf(command));
  const receipt = verified.ok ? verified.receipt : null;
  const kid = verified.ok ? verified.kid : null;
  const included = await runInclusion(command, receipt, document);
  const failures: readonly Failure<string>[] = [
    ...(verified.ok ? [] : verified.failures),
    ...(included === null || included.ok ? [] : included.failures),
  ];
  const verdict = verdictOf(failures);
  const checkpoint = included?.ok === true ? included.checkpoint : null;
  if (!command.json)
    return answer(
      verdict,
      describeVerified(verdict, { receipt, kid, checkpoint, assumed: [] }, failures, paint),
    );
  const more = command.inclusion === undefined ? {} : { checkpoint };
  return answer(verdict, JSON.stringify({ verdict, ...summaryOf(receipt), ...more, failures }));
};

/** Null where it is not asked for, or where there is no Receipt that verifies: nothing else can be included. */
const runInclusion = async (
  command: VerifyCommand,
  receipt: Receipt | null,
  serviceDidDocument: string,
): Promise<VerifiedInclusion | null> => {
  if (command.inclusion === undefined) return null;
  const inclusion = await readText(command.inclusion, 'the inclusion proof');
  const checkpoint =
    command.checkpoint === undefined
      ? {}
      : { checkpoint: await readText(command.checkpoint, 'the checkpoint') };
  if (receipt === null) return null;
  const { receipt_id: receiptId } = receipt;
  return verifyReceiptInclusion({
    receiptId,
    inclusion,
    ...checkpoint,
    serviceDidDocument,
    ...optionsOf(command),
  });
};

const summaryOf = (receipt: Receipt | null) => ({
  decision: receipt?.decision ?? null,
  receipt_id: receipt?.receipt_id ?? null,
});

export const runBundle = async (command: BundleCommand, paint: Paint): Promise<Output> => {
  const bundle = await readText(command.bundle, 'the bundle', MAX_BUNDLE_BYTES);
  const verified = verifyBundle(bundle, await readPin(command), nativeCrypto);
  const failures = verified.ok ? [] : verified.failures;
  const found = verified.ok ? verified : { receipt: null, kid: null, checkpoint: null, assumed: [] };
  const { receipt, checkpoint, assumed } = found;
  const verdict = verdictOf(failures);
  if (!command.json) return answer(verdict, describeVerified(verdict, found, failures, paint));
  const authenticated = verified.ok && assumed.length === 0;
  return answer(
    verdict,
    JSON.stringify({ verdict, authenticated, ...summaryOf(receipt), checkpoint, assumed, failures }),
  );
};

const readPin = async ({ didDocument, serviceDid, keys }: BundleCommand): Promise<BundlePin> => {
  const did = serviceDid === undefined ? {} : { serviceDid };
  if (didDocument === undefined) return keys.length > 0 ? { keys, ...did } : { serviceDid: serviceDid ?? '' };
  return { serviceDidDocument: await readText(didDocument, 'the DID document'), ...did };
};
