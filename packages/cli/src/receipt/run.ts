/**
 * `svc-receipt verify|audit|monitor`. Exit codes: 0 valid or no alarm, 1 invalid or an alarm, 2 could not decide (bad
 * usage, an unreadable file, missing evidence, a profile of a later version, a service that does not answer).
 */
import { inspect } from 'node:util';
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { type Failure, type Verdict, verdictOf } from '@svc/receipts';
import { type AuditInput, type AuditResult, audit } from '@svc/receipts/audit';
import { verifyBundle } from '@svc/receipts/bundle';
import { UsageError } from '../command-line.ts';
import { describeRefusal } from '../read-command.ts';
import { type Paint, painter, printable, printableJson } from '../report.ts';
import { silentTerminal, type Terminal } from '../terminal.ts';
import { PROGRAM } from './commands.ts';
import { type Evidence, readEvidence, readGiven, readText } from './inputs.ts';
import { runMonitor } from './monitor/run-monitor.ts';
import { type Command, parseCommand } from './options.ts';
import { evidenceNamedBy, recognise, recogniseBundle } from './recognise.ts';
import { describeAudit, factsOf } from './report.ts';
import { runVerify } from './run-verify.ts';
import { summarizeAudit } from './summary.ts';
import { answer, type Output, optionsOf } from './verdict.ts';

/** Runs the command and returns what to write at its end. Never rejects. */
export const run = async (args: readonly string[], terminal: Terminal = silentTerminal): Promise<Output> => {
  try {
    return await runCommand(parseCommand(args), painter(terminal.colours), terminal);
  } catch (error) {
    return couldNotDecide(error, args.includes('--json'));
  }
};

/** An unexpected error is no verdict either. Its stack is shown for a bug report. */
const couldNotDecide = (error: unknown, isJson: boolean): Output => {
  const isRefusal = error instanceof UsageError;
  const stack = isRefusal ? '' : inspect(error).split('\n').map(printable).join('\n');
  const problem = { verdict: 'undecided', error: printable(isRefusal ? error.message : String(error)) };
  if (isJson) return { exitCode: 2, stdout: printableJson(problem), stderr: stack };
  return { exitCode: 2, stdout: '', stderr: isRefusal ? describeRefusal(PROGRAM.name, error) : stack };
};

const runCommand = async (command: Command, paint: Paint, terminal: Terminal): Promise<Output> => {
  switch (command.name) {
    case 'tell':
      return { exitCode: 0, stdout: command.text, stderr: '' };
    case 'verify':
      return runVerify(command, paint);
    case 'audit':
      return runAudit(command, paint);
    case 'monitor':
      return runMonitor(command, paint, terminal);
  }
};

const runAudit = async (command: AuditCommand, paint: Paint): Promise<Output> => {
  const serviceDidDocument = await readText(command.didDocument, 'the DID document');
  const given = await readAudited(command, serviceDidDocument);
  if ('failures' in given) return answerAudit(command, { ...NOT_AUDITED, failures: given.failures }, paint);
  const evidence = await readEvidence(command.evidence, evidenceNamedBy(given.verifiable.receipt));
  const audited = audit({
    serviceDidDocument,
    grant: await readToken(command.grant, 'the Grant'),
    proof: await readToken(command.proof, 'the Proof'),
    action: parseAction(await readText(command.action, 'the Action')),
    ...given.verifiable,
    relyingParty: { proofWindowSeconds: command.proofWindowSeconds },
    evidence: new Map([...given.evidence, ...evidence.texts]),
    consumption: await readConsumption(command.consumption),
    ...optionsOf(command),
  });
  const failures = audited.failures.map((one) => withFile(one, evidence));
  return answerAudit(command, { ...audited, failures }, paint);
};

type AuditCommand = Extract<Command, { name: 'audit' }>;

/** Reported for a bundle that does not verify: the engine was not run. */
const NOT_AUDITED = {
  ok: false,
  undecided: false,
  receipt: null,
  kid: null,
  attestation: null,
  differences: [],
  assumed: [],
} as const;

type Audited =
  | {
      /** The Receipt, and the parts of a bundle that verify it. */
      readonly verifiable: Pick<AuditInput, 'receipt' | 'inclusion' | 'checkpoint' | 'attestation'>;
      readonly evidence: ReadonlyMap<string, string>;
    }
  | { readonly failures: readonly Failure<string>[] };

/** A bundle is recognised with and without --bundle. */
const readAudited = async (command: AuditCommand, serviceDidDocument: string): Promise<Audited> => {
  const text = await readGiven(command.receipt);
  const given = command.bundle === undefined ? recognise(text) : recogniseBundle(text);
  if (given.kind === 'receipt') return { verifiable: { receipt: given.receipt }, evidence: new Map() };
  const pin = command.serviceDid === undefined ? {} : { serviceDid: command.serviceDid };
  const verified = verifyBundle(text, { serviceDidDocument, ...pin }, nativeCrypto);
  if (!verified.ok) return { failures: verified.failures };
  const { receipt, inclusion, checkpoint, attestation } = given.bundle;
  return { verifiable: { receipt, inclusion, checkpoint, attestation }, evidence: verified.evidence };
};

type AuditReport = Pick<
  AuditResult,
  'ok' | 'undecided' | 'receipt' | 'kid' | 'attestation' | 'differences' | 'assumed'
> & {
  readonly failures: readonly Failure<string>[];
};

const answerAudit = (command: AuditCommand, result: AuditReport, paint: Paint): Output => {
  const verdict = auditVerdictOf(result);
  const summary = summarizeAudit(verdict, result);
  if (!command.json) return answer(verdict, describeAudit(verdict, result, summary, paint));
  const { receipt, kid, attestation, failures, differences, assumed } = result;
  return answer(
    verdict,
    printableJson({
      verdict,
      summary,
      ...factsOf(receipt, kid, attestation),
      failures,
      differences,
      assumed,
    }),
  );
};

/** A difference decides even if the engine could not finish. */
const auditVerdictOf = ({ ok, undecided, differences, receipt, failures }: AuditReport): Verdict => {
  if (ok) return 'valid';
  if (differences.length > 0) return 'invalid';
  return undecided || (receipt === null && verdictOf(failures) === 'undecided') ? 'undecided' : 'invalid';
};

/** Names the file that was meant for a piece of evidence, if a file name contains its hash. */
const withFile = <T extends Failure<string>>(one: T, { misnamed }: Evidence): T => {
  if (one.code !== 'missing-evidence') return one;
  const [hash = ''] = /sha256:[0-9a-f]{64}/.exec(one.message) ?? [];
  const message = misnamed.get(hash);
  return message === undefined ? one : { ...one, message };
};

/** The line break that editors add at the end is not part of the token. */
const readToken = async (path: string, what: string): Promise<string> =>
  (await readText(path, what)).replace(/\r?\n$/, '');

const readConsumption = async (paths: readonly string[]): Promise<readonly JsonObject[]> => {
  const pages: JsonObject[] = [];
  for (const path of paths) {
    const json = parseStrictJson(await readText(path, 'the consumption'));
    if (!json.ok || !isJsonObject(json.value))
      throw new UsageError(`the consumption ${path} must be an answer of GET /grants/{id}/consumption`);
    pages.push(json.value);
  }
  return pages;
};

/** Parsed as the service does (protocol §5). JSON that is not strict JSON is no Action, and the engine gets `{}`. */
const parseAction = (text: string): unknown => {
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError('the Action must be JSON');
  }
  const strict = parseStrictJson(text);
  return strict.ok ? strict.value : {};
};
