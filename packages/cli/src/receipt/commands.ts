/**
 * The commands and options of `svc-receipt`. It parses by them; help, man page and completion are generated from them.
 */
import { type CommandText, type Options, type Program, pick } from '../command-line.ts';
import { completionCommand } from '../completion.ts';

/** All options of `svc-receipt`. */
export const OPTIONS = {
  'did-document': { value: 'FILE', text: "the service's DID document that you trust" },
  'service-did': { value: 'DID', text: 'the DID of the service that you trust: the document must be of it' },
  fetch: {
    text: "gets what is missing from the service's own host: DID document, inclusion proof, attestation",
  },
  inclusion: {
    value: 'FILE',
    text: 'the answer of GET /decisions/{receipt_id}/inclusion: the Receipt must be in the checkpoint of its day',
  },
  checkpoint: {
    value: 'FILE',
    text: "that day's checkpoint, or its JWS, from elsewhere; must be the one in the proof",
  },
  attestation: {
    value: 'FILE',
    text: 'the answer of GET /decisions/{receipt_id}/attestation: what it takes where a key that signed has ended or leaked',
  },
  bundle: {
    value: 'FILE',
    text: 'Receipt, inclusion proof, checkpoint, DID document and evidence in one file',
  },
  key: {
    value: 'KEY',
    text: 'a key of the service that you trust, for Receipts or for checkpoints and attestations, with the time at which you know it to be in force: receipt=z6Mk...@FROM/UNTIL or status=z6Mk...@FROM/UNTIL, where either bound may be left out',
    many: true,
  },
  'allow-unauthenticated': {
    text: 'exit code 0 for what vouches for its own keys, or for their purposes or times',
  },
  grant: { value: 'FILE', text: 'the Grant as presented' },
  proof: { value: 'FILE', text: 'the Proof as presented' },
  action: { value: 'FILE', text: 'the Action that was sent, as JSON' },
  evidence: { value: 'PATH', text: 'DID document and status list, found by their hashes', many: true },
  consumption: {
    value: 'FILE',
    text: 'for an ALLOW that consumed a budget: the answers of GET /grants/{id}/consumption, back to the first event',
    many: true,
  },
  'proof-window': { value: 'SECONDS', text: "the relying party's proof_window_seconds, 1 to 300" },
  state: {
    value: 'FILE',
    text: 'where the monitor remembers what it saw; svc-receipt-monitor.<host>.json unless given',
  },
  every: { value: 'SECONDS', text: 'look again and again, until an alarm' },
  recheck: {
    value: 'N',
    text: 'fetch so many of the days known already again, at random; all of them unless given',
  },
  since: {
    value: 'DAY',
    text: "where the monitor begins (YYYY-MM-DD); the service's first day unless given",
  },
  insecure: { text: 'plain http to other machines too: whoever is in between could hide what is new' },
  json: { text: 'print one JSON object, with --every one for each look' },
} as const satisfies Options;

const VERIFY: CommandText = {
  name: 'verify',
  usage: [
    '[verify] RECEIPT-OR-BUNDLE [--did-document FILE | --service-did DID] [--fetch] [--json]',
    'verify RECEIPT --did-document FILE [--inclusion FILE [--checkpoint FILE] [--attestation FILE]] [--json]',
    'verify (BUNDLE | --bundle FILE) (--did-document FILE | (--key KEY... | --service-did DID) [--allow-unauthenticated]) [--json]',
  ],
  gist: 'Checks a Receipt or a bundle: form, signature, whether it agrees with itself, and what proves it',
  options: pick(OPTIONS, [
    ...(['did-document', 'service-did', 'fetch', 'inclusion', 'checkpoint', 'attestation'] as const),
    ...(['bundle', 'key', 'allow-unauthenticated', 'json'] as const),
  ]),
  notes: [
    `What is given is recognised: a Receipt as JSON, the answer of GET /decisions/{receipt_id}, a bare JWS, a bundle; in a file, at an
http(s) address, or on standard input ("-"). The word verify may be left out.`,
    `A Receipt that is dated outside the time of its key, or whose key is compromised by the document, takes --inclusion with
--attestation, or --bundle. A bundle is authenticated by --did-document, or by keys with what each is for (receipt= where the
document calls it #receipt-<n>, status= where #status-<n>) and their times (svc:validFrom and svc:validUntil there); a key that
has leaked is no longer one to name. What is left out rests on the bundle's own word, with --service-did alone the keys do:
whoever has one of the keys, or got hold of one that had ended, or anybody, can write one that agrees with itself, so the exit
code is 2, "authenticated" false in the JSON.`,
    `--fetch asks the host of the DID over https, and nobody else. With --service-did that host's document authenticates; without, whose
Receipt it is rests on the Receipt's own word, and the exit code is 2. Without --fetch and an address nothing is fetched.`,
  ],
};

const AUDIT: CommandText = {
  name: 'audit',
  usage: [
    'audit [RECEIPT] --did-document FILE [--service-did DID] --grant FILE --proof FILE --action FILE --evidence PATH... --proof-window SECONDS [--consumption FILE...] [--json]',
    'audit --bundle FILE --did-document FILE [--service-did DID] --grant FILE --proof FILE --action FILE --proof-window SECONDS [--consumption FILE...] [--json]',
  ],
  gist: 'Runs the engine again on what was presented, and lists every difference and what rests on the service’s word alone',
  options: pick(OPTIONS, [
    ...(['did-document', 'service-did', 'bundle', 'grant', 'proof', 'action', 'evidence'] as const),
    ...(['consumption', 'proof-window', 'json'] as const),
  ]),
  notes: [
    'With --bundle the Receipt and its evidence are those of the bundle, which is verified first. Nothing is fetched.',
  ],
};

const MONITOR: CommandText = {
  name: 'monitor',
  usage: [
    'monitor BASE-URL (--did-document FILE | --key KEY...) [--service-did DID] [--state FILE] [--every SECONDS] [--recheck N] [--since DAY] [--insecure] [--json]',
  ],
  gist: 'Follows the checkpoints that a service publishes: every signature, the chain of days, and each day’s root from its leaves',
  options: pick(OPTIONS, [
    ...([
      'did-document',
      'key',
      'service-did',
      'state',
      'every',
      'recheck',
      'since',
      'insecure',
      'json',
    ] as const),
  ]),
  notes: [
    `The pinned document is compared with the one that is served first. Whatever the monitor once saw must be there, the same, for
ever. Keep the state file: it is the memory.`,
    `Checkpoints are signed by status keys: with --key status=z6Mk... no other counts. A key without what it is for counts too, and the
exit code is 2: it may be a receipt key, which must sign none.`,
  ],
};

export const PROGRAM: Program<CommandText> = {
  name: 'svc-receipt',
  gist: 'Checks a Receipt or a bundle, offline unless you say otherwise; or follows the checkpoints of a service',
  commands: [VERIFY, AUDIT, MONITOR, completionCommand('svc-receipt')],
  standard: VERIFY,
  foot: 'Exit code: 0 valid, or all well; 1 invalid, or an alarm; 2 could not decide.',
};
