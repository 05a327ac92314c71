/**
 * `svc-receipt verify|audit`. Exit codes: 0 valid, 1 invalid, 2 could not decide (bad usage, an unreadable file, missing
 * evidence, a profile of a later version).
 */
import { isJsonObject, parseStrictJson } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import packageJson from '../../package.json' with { type: 'json' };
import { type AuditResult, audit } from '../audit/audit.ts';
import type { Failure } from '../failure.ts';
import { verifyReceipt } from '../verify/verify-receipt.ts';
import { type Evidence, InputError, readEvidence, readText } from './inputs.ts';
import { type Command, parseCommand } from './options.ts';
import { describeAudit, describeVerified, type Paint, painter, printable, type Verdict } from './report.ts';

export const HELP = `Check a Receipt offline.

  svc-receipt verify [receipt] --did-document FILE
  svc-receipt audit  [receipt] --did-document FILE --grant FILE --proof FILE --action FILE
                     --evidence FILE-OR-DIRECTORY... --proof-window SECONDS

The Receipt is a file, or standard input where it is left out or is "-". The answer of
GET /decisions/{receipt_id} is taken too.

  --did-document FILE   the service's DID document that you trust
  --service-did DID     the DID that the document must be of
  --grant FILE          the Grant as presented
  --proof FILE          the Proof as presented
  --action FILE         the Action that was sent, as JSON
  --evidence PATH       DID document and status list, found by their hashes; may be repeated
  --proof-window N      the relying party's proof_window_seconds, 1 to 300
  --json                print one JSON object
  -h, --help  -v, --version

verify checks form, signature and whether the Receipt agrees with itself. audit also runs the engine
again on what was presented, and lists every difference and what rests on the service's word alone.

Exit code: 0 valid, 1 invalid, 2 could not decide. Nothing is fetched from the network.`;

const EXIT_CODES = { valid: 0, invalid: 1, undecided: 2 } as const;

export interface Output {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command. `colours`: whether the answer may be coloured. */
export const run = async (args: readonly string[], colours: boolean): Promise<Output> => {
  try {
    return await runCommand(parseCommand(args), painter(colours));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const message = printable(error.message);
    if (args.includes('--json'))
      return { exitCode: 2, stdout: JSON.stringify({ verdict: 'undecided', error: message }), stderr: '' };
    return { exitCode: 2, stdout: '', stderr: `svc-receipt: ${message}\nTry svc-receipt --help.` };
  }
};

const runCommand = async (command: Command, paint: Paint): Promise<Output> => {
  switch (command.name) {
    case 'help':
      return { exitCode: 0, stdout: HELP, stderr: '' };
    case 'version':
      return { exitCode: 0, stdout: packageJson.version, stderr: '' };
    case 'verify':
      return runVerify(command, paint);
    case 'audit':
      return runAudit(command, paint);
  }
};

const answer = (verdict: Verdict, stdout: string): Output => ({
  exitCode: EXIT_CODES[verdict],
  stdout,
  stderr: '',
});

/** What a later version of the library, or a readable document, could decide otherwise. */
const UNDECIDED: ReadonlySet<string> = new Set([
  'malformed-did-document',
  'unknown-profile',
  'unknown-trust-config',
]);

const verdictOf = (failures: readonly Failure<string>[]): Verdict => {
  if (failures.length === 0) return 'valid';
  return failures.every(({ code }) => UNDECIDED.has(code)) ? 'undecided' : 'invalid';
};

const optionsOf = ({ serviceDid }: { readonly serviceDid: string | undefined }) =>
  serviceDid === undefined ? { crypto: nativeCrypto } : { crypto: nativeCrypto, serviceDid };

const runVerify = async (command: Extract<Command, { name: 'verify' }>, paint: Paint): Promise<Output> => {
  if (command.receipt === '-' && command.didDocument === '-')
    throw new InputError('only one input can be - (standard input)');
  const document = await readText(command.didDocument, 'the DID document');
  const verified = verifyReceipt(await readReceipt(command.receipt), document, optionsOf(command));
  const failures = verified.ok ? [] : verified.failures;
  const receipt = verified.ok ? verified.receipt : null;
  const verdict = verdictOf(failures);
  if (command.json)
    return answer(
      verdict,
      JSON.stringify({
        verdict,
        decision: receipt?.decision ?? null,
        receipt_id: receipt?.receipt_id ?? null,
        failures,
      }),
    );
  return answer(verdict, describeVerified(verdict, receipt, failures, paint));
};

const runAudit = async (command: Extract<Command, { name: 'audit' }>, paint: Paint): Promise<Output> => {
  const evidence = await readEvidence(command.evidence);
  const audited = audit({
    serviceDidDocument: await readText(command.didDocument, 'the DID document'),
    grant: await readToken(command.grant, 'the Grant'),
    proof: await readToken(command.proof, 'the Proof'),
    action: parseAction(await readText(command.action, 'the Action')),
    receipt: await readReceipt(command.receipt),
    relyingParty: { proofWindowSeconds: command.proofWindowSeconds },
    evidence: evidence.texts,
    ...optionsOf(command),
  });
  const result = { ...audited, failures: audited.failures.map((one) => withFile(one, evidence)) };
  const verdict = auditVerdictOf(result);
  if (!command.json) return answer(verdict, describeAudit(verdict, result, paint));
  const { receipt, failures, differences, assumed } = result;
  const decision = receipt?.decision ?? null;
  return answer(
    verdict,
    JSON.stringify({
      verdict,
      decision,
      receipt_id: receipt?.receipt_id ?? null,
      failures,
      differences,
      assumed,
    }),
  );
};

/** A difference decides even where the engine could not be run to the end. */
const auditVerdictOf = ({ ok, undecided, differences, receipt, failures }: AuditResult): Verdict => {
  if (ok) return 'valid';
  if (differences.length > 0) return 'invalid';
  return undecided || (receipt === null && verdictOf(failures) === 'undecided') ? 'undecided' : 'invalid';
};

/** Says which file was meant for a piece of evidence, where its name tells. */
const withFile = <T extends Failure<string>>(one: T, { misnamed }: Evidence): T => {
  if (one.code !== 'missing-evidence') return one;
  const [hash = ''] = /sha256:[0-9a-f]{64}/.exec(one.message) ?? [];
  const message = misnamed.get(hash);
  return message === undefined ? one : { ...one, message };
};

/** A Receipt, bare or within the answer of `GET /decisions/{receipt_id}`: the text of the one, the object of the other. */
const readReceipt = async (path: string): Promise<unknown> => {
  const text = await readText(path, 'the Receipt');
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value)) return text;
  const { receipt, outcomes, ...others } = json.value;
  return isJsonObject(receipt) && Array.isArray(outcomes) && Object.keys(others).length === 0
    ? receipt
    : text;
};

/** The line break that editors leave at the end is none of the token's. */
const readToken = async (path: string, what: string): Promise<string> =>
  (await readText(path, what)).replace(/\r?\n$/, '');

/** Ordinary JSON: an Action that is wrong in form is the engine's to judge. */
const parseAction = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError('the Action must be JSON');
  }
};
