/**
 * `svc-receipt verify`: verifies a Receipt, its inclusion in the checkpoint of its day, or a whole bundle, as given.
 */
import type { JsonObject } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { type Failure, type VerifiedReceipt, verdictOf, verifyReceipt } from '@svc/receipts';
import type { Assumption } from '@svc/receipts/audit';
import { type BundlePin, verifyBundle } from '@svc/receipts/bundle';
import { type IncludedReceipt, verifyIncludedReceipt } from '@svc/receipts/inclusion';
import { UsageError } from '../command-line.ts';
import { type Paint, printableJson } from '../report.ts';
import { type FoundInclusion, fetchAddress, isAddress, type ServiceHost, serviceHost } from './fetch.ts';
import { readGiven, readText } from './inputs.ts';
import { NO_DOCUMENT, type VerifyCommand } from './options.ts';
import { findTextFault, receiptIdOf, recognise, recogniseBundle, serviceOf } from './recognise.ts';
import { describeVerified, type Found, factsOf } from './report.ts';
import { summarize } from './summary.ts';
import { answer, type Output, optionsOf } from './verdict.ts';

export const runVerify = async (command: VerifyCommand, paint: Paint): Promise<Output> => {
  const { input, isBundle } = command;
  const text = isAddress(input) ? await fetchAddress(input) : await readGiven(input);
  const given = isBundle ? recogniseBundle(text) : recognise(text);
  const verified =
    given.kind === 'bundle'
      ? await verifyGivenBundle(command, given)
      : await verifyGivenReceipt(command, given.receipt);
  return answerVerified(command, given.kind, verified, paint);
};

interface Verified extends Found {
  readonly failures: readonly Failure<string>[];
}

const NOTHING_FOUND = { receipt: null, kid: null, attestation: null, checkpoint: null, assumed: [] } as const;

/** A Receipt without its inclusion. */
const ALONE = { checkpoint: null, attestation: null } as const;

const answerVerified = (
  command: VerifyCommand,
  kind: 'receipt' | 'bundle',
  verified: Verified,
  paint: Paint,
): Output => {
  const { receipt, kid, attestation, checkpoint, inclusionNotShown = null, assumed, failures } = verified;
  const ok = failures.length === 0;
  const authenticated = ok && assumed.length === 0;
  const isOnOwnWord = ok && !authenticated;
  const verdict = isOnOwnWord && !command.allowUnauthenticated ? 'undecided' : verdictOf(failures);
  const day = checkpoint?.day ?? null;
  const isShown = inclusionNotShown === null;
  const summary = summarize(verdict, { receipt, kid, failures, isOnOwnWord, day, isShown });
  if (!command.json) return answer(verdict, describeVerified(verdict, verified, failures, summary, paint));
  const inclusion = { checkpoint, inclusion_not_shown: inclusionNotShown };
  const facts = { ...factsOf(receipt, kid, attestation), ...inclusion, assumed, failures };
  return answer(verdict, printableJson({ verdict, summary, kind, authenticated, ...facts }));
};

const verifyGivenReceipt = async (command: VerifyCommand, receipt: unknown): Promise<Verified> => {
  if (command.allowUnauthenticated && !command.fetch)
    throw new UsageError(
      '--allow-unauthenticated is for a bundle, or with --fetch: a Receipt has no keys of its own',
    );
  if (command.keys.length > 0)
    throw new UsageError('--key is for a bundle: a Receipt takes --did-document, which you trust');
  if (command.didDocument === undefined && !command.fetch) throw new UsageError(NO_DOCUMENT);
  const service = command.serviceDid ?? serviceOf(receipt);
  const host = command.fetch && service !== null ? serviceHost(service) : null;
  const document = await readDocument(command, host);
  const found = await findInclusion(command, receipt, host);
  const inclusion = 'text' in found ? found.text : undefined;
  const inclusionNotShown = 'text' in found ? null : found.notShown;
  const verified = await verifyPresented(command, receipt, { document, inclusion, host });
  if (!verified.ok) {
    const failures = command.didDocument === undefined ? ofFetched(verified.failures) : verified.failures;
    return { ...NOTHING_FOUND, inclusionNotShown, failures };
  }
  if (command.requireInclusion && inclusionNotShown !== null)
    throw new UsageError(
      `nothing shows that the Receipt is in the checkpoint of its day: ${inclusionNotShown}`,
    );
  const { checkpoint, attestation } = 'included' in verified ? verified.included : ALONE;
  const isOwnWord = command.didDocument === undefined && command.serviceDid === undefined;
  const assumed: readonly Assumption[] = isOwnWord
    ? [{ path: '/receipt', statement: `the service whose Receipt this is, is ${service}` }]
    : [];
  return {
    receipt: verified.receipt,
    kid: verified.kid,
    attestation,
    checkpoint,
    inclusionNotShown,
    assumed,
    open: 'ITS SERVICE IS',
    failures: [],
  };
};

const readDocument = async ({ didDocument }: VerifyCommand, host: ServiceHost | null): Promise<string> => {
  if (didDocument !== undefined) return readText(didDocument, 'the DID document');
  if (host === null) throw new UsageError('the Receipt names no service whose document could be fetched');
  return host.fetchDocument();
};

/** Drops the advice to obtain the document again if it was fetched just now. */
const ofFetched = (failures: readonly Failure<string>[]): readonly Failure<string>[] =>
  failures.map((one) => {
    const why = 'the document was fetched just now, so its service does not publish that key';
    return one.code === 'unknown-key'
      ? { ...one, message: one.message.replace(/it may be older.*$/, why) }
      : one;
  });

/** The given proof, else the one of the host. Without a host none is looked for. */
const findInclusion = async (
  command: VerifyCommand,
  receipt: unknown,
  host: ServiceHost | null,
): Promise<FoundInclusion | { readonly notShown: null }> => {
  const text = await readIfGiven(command.inclusion, 'the inclusion proof');
  if (text !== undefined) return { text };
  const id = receiptIdOf(receipt);
  return host === null || id === null ? { notShown: null } : host.findInclusion(id);
};

interface Trusted {
  readonly document: string;
  readonly inclusion: string | undefined;
  readonly host: ServiceHost | null;
}

/** Verifies the Receipt alone, or with its inclusion if there is a proof. */
const verifyPresented = async (
  command: VerifyCommand,
  receipt: unknown,
  { document: serviceDidDocument, inclusion, host }: Trusted,
): Promise<VerifiedReceipt | IncludedReceipt> => {
  const id = receiptIdOf(receipt);
  if (inclusion === undefined) return verifyReceipt(receipt, serviceDidDocument, optionsOf(command));
  const checkpoint = await readIfGiven(command.checkpoint, 'the checkpoint');
  const attestation = await readIfGiven(command.attestation, 'the attestation');
  const fault = findUnreadable({ inclusion, checkpoint, attestation });
  const alone = fault === null ? null : verifyReceipt(receipt, serviceDidDocument, optionsOf(command));
  if (alone?.ok === false) return alone;
  if (fault !== null) throw new UsageError(fault);
  const verify = (attestation: string | undefined) =>
    verifyIncludedReceipt({
      ...{ receipt, inclusion, checkpoint, attestation, serviceDidDocument },
      ...optionsOf(command),
    });
  const verified = await verify(attestation);
  const needsAttestation = !verified.ok && attestation === undefined && host !== null && id !== null;
  if (!needsAttestation) return verified;
  const found = await host.findAttestation(id);
  return found === null ? verified : verify(found);
};

/** A truncated file says nothing about the Receipt. */
const findUnreadable = (texts: Readonly<Record<string, string | undefined>>): string | null => {
  for (const [what, text] of Object.entries(texts)) {
    const found = text === undefined ? null : findTextFault(text);
    if (found !== null) return `--${what} cannot be read: this is ${found}`;
  }
  return null;
};

const readIfGiven = async (path: string | undefined, what: string): Promise<string | undefined> =>
  path === undefined ? undefined : readText(path, what);

const verifyGivenBundle = async (
  command: VerifyCommand,
  { text, bundle }: { readonly text: string; readonly bundle: JsonObject },
): Promise<Verified> => {
  if (command.inclusion !== undefined)
    throw new UsageError(
      'a bundle holds its inclusion proof: --inclusion, --checkpoint and --attestation are for a Receipt',
    );
  const pin = await readPin(command, bundle);
  const verified = verifyBundle(text, pin, nativeCrypto);
  if (!verified.ok) {
    const isFetched = 'serviceDidDocument' in pin && command.didDocument === undefined;
    return { ...NOTHING_FOUND, failures: isFetched ? ofFetched(verified.failures) : verified.failures };
  }
  return { ...verified, open: describeOpen(command.keys), failures: [] };
};

/**
 * The beginning of the heading, which names what the pinned keys leave unproven: the keys, their purposes or their
 * times.
 */
const describeOpen = (keys: VerifyCommand['keys']): string => {
  if (keys.length === 0) return 'ITS KEYS ARE';
  const isForAnything = keys.some((key) => typeof key === 'string' || key.purpose === undefined);
  const isOfAnyTime = keys.some((key) => typeof key === 'string' || !('validFrom' in key));
  const what = isForAnything ? (isOfAnyTime ? 'FOR WHAT AND WHEN' : 'FOR WHAT') : 'WHEN';
  return `${what} ITS KEYS WERE IN FORCE IS`;
};

/** The pinned keys. If none are pinned, those of the bundle itself, which proves only that the bundle is consistent. */
const readPin = async (command: VerifyCommand, bundle: JsonObject): Promise<BundlePin> => {
  const { didDocument, serviceDid, keys } = command;
  const did = serviceDid === undefined ? {} : { serviceDid };
  if (didDocument !== undefined)
    return { serviceDidDocument: await readText(didDocument, 'the DID document'), ...did };
  if (keys.length > 0) return { keys, ...did };
  if (serviceDid === undefined) return { serviceDid: serviceOf(bundle.receipt) ?? '' };
  return command.fetch
    ? { serviceDidDocument: await serviceHost(serviceDid).fetchDocument(), serviceDid }
    : { serviceDid };
};
