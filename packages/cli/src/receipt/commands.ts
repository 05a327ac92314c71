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
    text: "fetches what is missing from the service's own host: DID document, inclusion proof, attestation",
  },
  'require-inclusion': {
    text: 'with --fetch: exit code 2 if the service does not show that the Receipt is in the checkpoint of its day',
  },
  inclusion: {
    value: 'FILE',
    text: 'the answer of GET /decisions/{receipt_id}/inclusion: the Receipt must be in the checkpoint of its day',
  },
  checkpoint: {
    value: 'FILE',
    text: 'the checkpoint of that day, or its JWS, from another source; it must be the one in the proof',
  },
  attestation: {
    value: 'FILE',
    text: 'the answer of GET /decisions/{receipt_id}/attestation, needed if a key that signed has ended or leaked',
  },
  bundle: {
    value: 'FILE',
    text: 'Receipt, inclusion proof, checkpoint, DID document and evidence in one file',
  },
  key: {
    value: 'KEY',
    text: 'a key of the service that you trust, either for Receipts or for checkpoints and attestations, with the time for which you know that it was in force: receipt=z6Mk...@FROM/UNTIL or status=z6Mk...@FROM/UNTIL; either bound may be left out',
    many: true,
  },
  'allow-unauthenticated': {
    text: 'exit code 0 also if only the input itself vouches for its keys, or for their purposes or times',
  },
  grant: { value: 'FILE', text: 'the Grant as presented' },
  proof: { value: 'FILE', text: 'the Proof as presented' },
  action: { value: 'FILE', text: 'the Action that was sent, as JSON' },
  evidence: {
    value: 'PATH',
    text: 'a file, or a directory that may have others too: DID document and status list, found by their hashes',
    many: true,
  },
  consumption: {
    value: 'FILE',
    text: 'for an ALLOW that consumed a budget: the answers of GET /grants/{id}/consumption, back to the first event',
    many: true,
  },
  'proof-window': { value: 'SECONDS', text: "the relying party's proof_window_seconds, 1 to 300" },
  state: {
    value: 'FILE',
    text: 'file in which the monitor records what it saw; default: svc-receipt-monitor.<host>.json',
  },
  every: { value: 'SECONDS', text: 'look again at this interval, until an alarm' },
  recheck: {
    value: 'N',
    text: 'fetch this number of the known days again, chosen at random; default: all of them',
  },
  since: {
    value: 'DAY',
    text: 'first day for the monitor (YYYY-MM-DD); default: the first day of the service',
  },
  insecure: {
    text: 'allow plain http to other machines: anybody on the network path could then hide what is new',
  },
  json: { text: 'print one JSON object; with --every, one for each look' },
} as const satisfies Options;

const VERIFY: CommandText = {
  name: 'verify',
  usage: [
    '[verify] RECEIPT-OR-BUNDLE [--did-document FILE | --service-did DID] [--fetch [--require-inclusion]] [--json]',
    'verify RECEIPT --did-document FILE [--inclusion FILE [--checkpoint FILE] [--attestation FILE]] [--json]',
    'verify (BUNDLE | --bundle FILE) (--did-document FILE | (--key KEY... | --service-did DID) [--allow-unauthenticated]) [--json]',
  ],
  gist: 'Checks a Receipt or a bundle: its form, its signature, whether it is consistent, and what proves it',
  options: pick(OPTIONS, [
    ...(['did-document', 'service-did', 'fetch', 'require-inclusion'] as const),
    ...(['inclusion', 'checkpoint', 'attestation'] as const),
    ...(['bundle', 'key', 'allow-unauthenticated', 'json'] as const),
  ]),
  notes: [
    `The input may be a Receipt as JSON, the answer of GET /decisions/{receipt_id}, a bare JWS or a bundle. It may be in a file, at an
http(s) address, or on standard input ("-"). The word verify may be left out.`,
    `A Receipt that is dated outside the time of its key, or whose key the document marks as compromised, needs --inclusion with
--attestation, or --bundle. A bundle is authenticated by --did-document, or by --key. Give each key with its purpose (receipt= if the
document calls it #receipt-<n>, status= if it calls it #status-<n>) and its times (svc:validFrom and svc:validUntil there). Do not
name a key that has leaked. Where a purpose, a time or (with --service-did alone) the keys themselves are left out, only the bundle
vouches for them. Then a holder of one of the keys, somebody who obtained an ended key, or anybody could have written a consistent
bundle, so the exit code is 2, and "authenticated" is false in the JSON.`,
    `--fetch asks only the host of the DID, over https. With --service-did the document of that host authenticates the Receipt. Without
--service-did, only the Receipt itself says which service it is from, and the exit code is 2. Without --fetch and an address nothing is fetched.
The service has no proof of inclusion before it has closed the day. If it shows none, the output says why, and the Receipt is checked
without it; with --require-inclusion the exit code is then 2.`,
  ],
};

const AUDIT: CommandText = {
  name: 'audit',
  usage: [
    'audit [RECEIPT] --did-document FILE [--service-did DID] --grant FILE --proof FILE --action FILE --evidence PATH... --proof-window SECONDS [--consumption FILE...] [--json]',
    'audit --bundle FILE --did-document FILE [--service-did DID] --grant FILE --proof FILE --action FILE --proof-window SECONDS [--consumption FILE...] [--json]',
  ],
  gist: 'Runs the engine again on what was presented, and lists every difference and everything for which only the service vouches',
  options: pick(OPTIONS, [
    ...(['did-document', 'service-did', 'bundle', 'grant', 'proof', 'action', 'evidence'] as const),
    ...(['consumption', 'proof-window', 'json'] as const),
  ]),
  notes: [
    'With --bundle the Receipt and its evidence come from the bundle, which is verified first. Nothing is fetched.',
  ],
};

const MONITOR: CommandText = {
  name: 'monitor',
  usage: [
    'monitor BASE-URL (--did-document FILE | --key KEY...) [--service-did DID] [--state FILE] [--every SECONDS] [--recheck N] [--since DAY] [--insecure] [--json]',
  ],
  gist: 'Checks the checkpoints that a service publishes: every signature, the chain of days, and the root of each day from its leaves',
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
    `The monitor first compares the pinned document with the one that is served. Everything that it has seen must stay published and
unchanged. Keep the state file: it records what the monitor has seen. One look reads leaves for at most an hour, or for the time of
--every if that is longer, those of the smallest days first; the next look goes on with the days that are left.`,
    `Status keys sign checkpoints: with --key status=z6Mk... no other key is accepted. A --key without a purpose is accepted too, but then
the exit code is 2, since it may be a receipt key, which must not sign checkpoints.`,
  ],
};

export const PROGRAM: Program<CommandText> = {
  name: 'svc-receipt',
  gist: 'Checks a Receipt or a bundle, offline by default; or monitors the checkpoints of a service',
  commands: [VERIFY, AUDIT, MONITOR, completionCommand('svc-receipt')],
  standard: VERIFY,
  foot: 'Exit code: 0 valid, or no alarm; 1 invalid, or an alarm; 2 could not decide.',
};
