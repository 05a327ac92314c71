/**
 * `svc-receipt verify|audit|monitor`. Exit codes: 0 valid or all well, 1 invalid or an alarm, 2 could not decide (bad
 * usage, an unreadable file, missing evidence, a profile of a later version, a service that does not answer).
 */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import type { Failure } from '@svc/receipts';
import { type AuditResult, audit } from '@svc/receipts/audit';
import packageJson from '../../package.json' with { type: 'json' };
import { UsageError } from '../options.ts';
import { type Paint, painter, printable } from '../report.ts';
import { type Evidence, readEvidence, readReceipt, readText } from './inputs.ts';
import { runMonitor } from './monitor/run-monitor.ts';
import { type Command, parseCommand } from './options.ts';
import { describeAudit, type Verdict } from './report.ts';
import { runBundle, runVerify } from './run-verify.ts';
import { silentTerminal, type Terminal } from './terminal.ts';
import { answer, type Output, optionsOf, verdictOf } from './verdict.ts';

export const HELP = `Check a Receipt offline, or follow the checkpoints of a service.

  svc-receipt verify [receipt] --did-document FILE [--inclusion FILE [--checkpoint FILE]
                     [--attestation FILE]]
  svc-receipt verify --bundle FILE (--did-document FILE | (--key KEY... | --service-did DID)
                     [--allow-unauthenticated])
  svc-receipt audit  [receipt] --did-document FILE --grant FILE --proof FILE --action FILE
                     --evidence FILE-OR-DIRECTORY... --proof-window SECONDS [--consumption FILE...]
  svc-receipt monitor base-url (--did-document FILE | --key KEY...) [--service-did DID] [--state FILE]
                     [--every SECONDS] [--recheck N] [--since DAY]

The Receipt is a file, or standard input where it is left out or is "-". The answer of
GET /decisions/{receipt_id} is taken too.

  --did-document FILE   the service's DID document that you trust
  --service-did DID     the DID that the document must be of
  --inclusion FILE      the answer of GET /decisions/{receipt_id}/inclusion: the Receipt must be in the
                        checkpoint of its day
  --checkpoint FILE     that day's checkpoint, or its JWS, from elsewhere; must be the one in the proof
  --attestation FILE    the answer of GET /decisions/{receipt_id}/attestation: what it takes where a key that
                        signed has ended or leaked
  --bundle FILE         Receipt, inclusion proof, checkpoint, DID document and evidence in one file
  --key KEY             a key of the service that you trust, z6Mk..., or with the time at which you know it to
                        be in force, z6Mk...@FROM/UNTIL, where either may be left out; may be repeated
  --allow-unauthenticated
                        exit code 0 for a bundle that vouches for its own keys, or for their times
  --grant FILE          the Grant as presented
  --proof FILE          the Proof as presented
  --action FILE         the Action that was sent, as JSON
  --evidence PATH       DID document and status list, found by their hashes; may be repeated
  --consumption FILE    for an ALLOW that consumed a budget: the answers of GET /grants/{id}/consumption,
                        back to the first event; may be repeated
  --proof-window N      the relying party's proof_window_seconds, 1 to 300
  --state FILE          where the monitor remembers what it saw; svc-receipt-monitor.<host>.json unless given
  --every SECONDS       look again and again, until an alarm
  --recheck N           fetch so many of the days known already again, at random; all of them unless given
  --since DAY           where the monitor begins (YYYY-MM-DD); the service's first day unless given
  --json                print one JSON object, with --every one for each look
  -h, --help  -v, --version

verify checks form, signature and whether the Receipt agrees with itself. A Receipt that is dated outside
the time of its key, or whose key is compromised by the document, takes --inclusion with --attestation, or
--bundle. A bundle is authenticated by --did-document, or by keys with their times (svc:validFrom and
svc:validUntil in the document); a key that has leaked is no longer one to name. With keys alone, their
times rest on the bundle's own word, with --service-did alone the keys do: whoever got hold of a key that
had ended, or anybody, can write one that agrees with itself, so the exit code is 2, "authenticated" false
in the JSON. audit also runs the engine
again on what was presented, and lists every difference and what rests on the service's word alone.
Neither fetches anything from the network.

monitor reads the checkpoints that a service publishes: every signature, the chain of days, and each day's root
from its leaves. Whatever it once saw must be there, the same, for ever.

Exit code: 0 valid, or all well; 1 invalid, or an alarm; 2 could not decide.`;

/** Runs the command. `colours`: whether the answer may be coloured. */
export const run = async (
  args: readonly string[],
  colours: boolean,
  terminal: Terminal = silentTerminal,
): Promise<Output> => {
  try {
    return await runCommand(parseCommand(args), painter(colours), terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const message = printable(error.message);
    if (args.includes('--json'))
      return { exitCode: 2, stdout: JSON.stringify({ verdict: 'undecided', error: message }), stderr: '' };
    return { exitCode: 2, stdout: '', stderr: `svc-receipt: ${message}\nTry svc-receipt --help.` };
  }
};

const runCommand = async (command: Command, paint: Paint, terminal: Terminal): Promise<Output> => {
  switch (command.name) {
    case 'help':
      return { exitCode: 0, stdout: HELP, stderr: '' };
    case 'version':
      return { exitCode: 0, stdout: packageJson.version, stderr: '' };
    case 'verify':
      return runVerify(command, paint);
    case 'bundle':
      return runBundle(command, paint);
    case 'audit':
      return runAudit(command, paint);
    case 'monitor':
      return runMonitor(command, paint, terminal);
  }
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
    consumption: await readConsumption(command.consumption),
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

/** The line break that editors leave at the end is none of the token's. */
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

/** Ordinary JSON: an Action that is wrong in form is the engine's to judge. */
const parseAction = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError('the Action must be JSON');
  }
};
