/** `svc-receipt verify`: a Receipt, its inclusion in the checkpoint of its day, or a whole bundle. */
import { nativeCrypto } from '@svc/protocol/native';
import { type Failure, type Receipt, type VerifiedReceipt, verifyReceipt } from '@svc/receipts';
import type { BundlePin } from '@svc/receipts/bundle';
import { verifyBundle } from '@svc/receipts/bundle';
import { type IncludedReceipt, verifyIncludedReceipt } from '@svc/receipts/inclusion';
import type { Paint } from '../report.ts';
import { MAX_BUNDLE_BYTES, readReceipt, readText } from './inputs.ts';
import type { Command } from './options.ts';
import { describeVerified } from './report.ts';
import { answer, type Output, optionsOf, verdictOf } from './verdict.ts';

type VerifyCommand = Extract<Command, { name: 'verify' }>;
type BundleCommand = Extract<Command, { name: 'bundle' }>;

export const runVerify = async (command: VerifyCommand, paint: Paint): Promise<Output> => {
  const document = await readText(command.didDocument, 'the DID document');
  const verified = await verifyPresented(command, await readReceipt(command.receipt), document);
  const receipt = verified.ok ? verified.receipt : null;
  const kid = verified.ok ? verified.kid : null;
  const failures: readonly Failure<string>[] = verified.ok ? [] : verified.failures;
  const verdict = verdictOf(failures);
  const checkpoint = verified.ok && 'included' in verified ? verified.included.checkpoint : null;
  if (!command.json)
    return answer(
      verdict,
      describeVerified(verdict, { receipt, kid, checkpoint, assumed: [] }, failures, paint),
    );
  const more = command.inclusion === undefined ? {} : { checkpoint };
  return answer(verdict, JSON.stringify({ verdict, ...summaryOf(receipt), ...more, failures }));
};

/** Alone, or with its inclusion where a proof is given. */
const verifyPresented = async (
  command: VerifyCommand,
  receipt: unknown,
  serviceDidDocument: string,
): Promise<VerifiedReceipt | IncludedReceipt> => {
  if (command.inclusion === undefined) return verifyReceipt(receipt, serviceDidDocument, optionsOf(command));
  const inclusion = await readText(command.inclusion, 'the inclusion proof');
  const checkpoint = await readIfGiven(command.checkpoint, 'the checkpoint');
  const attestation = await readIfGiven(command.attestation, 'the attestation');
  const given = { receipt, inclusion, checkpoint, attestation, serviceDidDocument };
  return verifyIncludedReceipt({ ...given, ...optionsOf(command) });
};

const readIfGiven = async (path: string | undefined, what: string): Promise<string | undefined> =>
  path === undefined ? undefined : readText(path, what);

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
  const authenticated = verified.ok && assumed.length === 0;
  const open = command.keys.length > 0 ? 'WHEN ITS KEYS WERE IN FORCE IS' : 'ITS KEYS ARE';
  const isOnOwnWord = verified.ok && !authenticated && !command.allowUnauthenticated;
  const verdict = isOnOwnWord ? 'undecided' : verdictOf(failures);
  if (!command.json) return answer(verdict, describeVerified(verdict, { ...found, open }, failures, paint));
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
