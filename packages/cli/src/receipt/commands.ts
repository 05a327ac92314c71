/** The commands and options of `svc-receipt`, once: help, help of one command, man page and completion are made of it. */

export interface Option {
  readonly name: string;
  /** What follows it; null: nothing. */
  readonly value: string | null;
  readonly meaning: string;
}

export interface CommandText {
  readonly name: string;
  readonly usage: readonly string[];
  /** One sentence. */
  readonly gist: string;
  readonly options: readonly string[];
  readonly notes: string;
}

const option = (name: string, value: string | null, meaning: string): Option => ({ name, value, meaning });

export const OPTIONS: readonly Option[] = [
  option('did-document', 'FILE', "the service's DID document that you trust"),
  option('service-did', 'DID', 'the DID of the service that you trust: the document must be of it'),
  option(
    'fetch',
    null,
    "gets what is missing from the service's own host: DID document, inclusion proof, attestation",
  ),
  option(
    'inclusion',
    'FILE',
    'the answer of GET /decisions/{receipt_id}/inclusion: the Receipt must be in the checkpoint of its day',
  ),
  option(
    'checkpoint',
    'FILE',
    "that day's checkpoint, or its JWS, from elsewhere; must be the one in the proof",
  ),
  option(
    'attestation',
    'FILE',
    'the answer of GET /decisions/{receipt_id}/attestation: what it takes where a key that signed has ended or leaked',
  ),
  option('bundle', 'FILE', 'Receipt, inclusion proof, checkpoint, DID document and evidence in one file'),
  option(
    'key',
    'KEY',
    'a key of the service that you trust, z6Mk..., or with the time at which you know it to be in force, z6Mk...@FROM/UNTIL, where either may be left out; may be repeated',
  ),
  option('allow-unauthenticated', null, 'exit code 0 for what vouches for its own keys, or for their times'),
  option('grant', 'FILE', 'the Grant as presented'),
  option('proof', 'FILE', 'the Proof as presented'),
  option('action', 'FILE', 'the Action that was sent, as JSON'),
  option('evidence', 'PATH', 'DID document and status list, found by their hashes; may be repeated'),
  option(
    'consumption',
    'FILE',
    'for an ALLOW that consumed a budget: the answers of GET /grants/{id}/consumption, back to the first event; may be repeated',
  ),
  option('proof-window', 'SECONDS', "the relying party's proof_window_seconds, 1 to 300"),
  option(
    'state',
    'FILE',
    'where the monitor remembers what it saw; svc-receipt-monitor.<host>.json unless given',
  ),
  option('every', 'SECONDS', 'look again and again, until an alarm'),
  option(
    'recheck',
    'N',
    'fetch so many of the days known already again, at random; all of them unless given',
  ),
  option('since', 'DAY', "where the monitor begins (YYYY-MM-DD); the service's first day unless given"),
  option('json', null, 'print one JSON object, with --every one for each look'),
  option('help', null, 'this text; with a command, what is about that one'),
  option('version', null, 'the version'),
];

const ALWAYS = ['json', 'help'];

export const COMMANDS: readonly CommandText[] = [
  {
    name: 'verify',
    usage: [
      'svc-receipt [verify] RECEIPT-OR-BUNDLE [--did-document FILE | --service-did DID] [--fetch]',
      'svc-receipt verify RECEIPT --did-document FILE [--inclusion FILE [--checkpoint FILE] [--attestation FILE]]',
      'svc-receipt verify BUNDLE (--did-document FILE | (--key KEY... | --service-did DID) [--allow-unauthenticated])',
    ],
    gist: 'Checks a Receipt or a bundle: form, signature, whether it agrees with itself, and what proves it.',
    options: [
      ...['did-document', 'service-did', 'fetch', 'inclusion', 'checkpoint', 'attestation', 'bundle', 'key'],
      ...['allow-unauthenticated', ...ALWAYS],
    ],
    notes: `What is given is recognised: a Receipt as JSON, the answer of GET /decisions/{receipt_id}, a bare JWS, a bundle; in a file, at an
http(s) address, or on standard input ("-"). The word verify may be left out.

A Receipt that is dated outside the time of its key, or whose key is compromised by the document, takes --inclusion with
--attestation, or --bundle. A bundle is authenticated by --did-document, or by keys with their times (svc:validFrom and
svc:validUntil in the document); a key that has leaked is no longer one to name. With keys alone, their times rest on the
bundle's own word, with --service-did alone the keys do: whoever got hold of a key that had ended, or anybody, can write one
that agrees with itself, so the exit code is 2, "authenticated" false in the JSON.

--fetch asks the host of the DID over https, and nobody else. With --service-did that host's document authenticates; without, whose
Receipt it is rests on the Receipt's own word, and the exit code is 2. Without --fetch and an address nothing is fetched.`,
  },
  {
    name: 'audit',
    usage: [
      'svc-receipt audit [RECEIPT] --did-document FILE --grant FILE --proof FILE --action FILE --evidence PATH... --proof-window SECONDS [--consumption FILE...]',
      'svc-receipt audit --bundle FILE --did-document FILE --grant FILE --proof FILE --action FILE --proof-window SECONDS [--consumption FILE...]',
    ],
    gist: 'Runs the engine again on what was presented, and lists every difference and what rests on the service’s word alone.',
    options: [
      ...[
        'did-document',
        'service-did',
        'bundle',
        'grant',
        'proof',
        'action',
        'evidence',
        'consumption',
        'proof-window',
      ],
      ...ALWAYS,
    ],
    notes:
      'With --bundle the Receipt and its evidence are those of the bundle, which is verified first. Nothing is fetched.',
  },
  {
    name: 'monitor',
    usage: [
      'svc-receipt monitor BASE-URL (--did-document FILE | --key KEY...) [--service-did DID] [--state FILE] [--every SECONDS] [--recheck N] [--since DAY]',
    ],
    gist: 'Follows the checkpoints that a service publishes: every signature, the chain of days, and each day’s root from its leaves.',
    options: ['did-document', 'key', 'service-did', 'state', 'every', 'recheck', 'since', ...ALWAYS],
    notes: `The pinned document is compared with the one that is served first. Whatever the monitor once saw must be there, the same, for
ever. Keep the state file: it is the memory.`,
  },
  {
    name: 'completion',
    usage: ['svc-receipt completion bash'],
    gist: 'Prints what makes a shell complete these commands: source <(svc-receipt completion bash)',
    options: ['help'],
    notes: '',
  },
];

export const EXIT_CODES = 'Exit code: 0 valid, or all well; 1 invalid, or an alarm; 2 could not decide.';

const WIDTH = 108;

/** Words in lines of at most `WIDTH`, each after `indent` spaces. */
const wrap = (text: string, indent: number): string => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && indent + last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
};

const flagOf = ({ name, value }: Option): string => `--${name}${value === null ? '' : ` ${value}`}`;
const describeOption = (one: Option): string => `  ${flagOf(one).padEnd(24)} ${wrap(one.meaning, 27)}`;
const optionsOf = ({ options }: CommandText): readonly Option[] =>
  OPTIONS.filter(({ name }) => options.includes(name));
const describeUsage = ({ usage }: CommandText): string => usage.map((one) => `  ${wrap(one, 6)}`).join('\n');

/** The text of `--help`. */
export const HELP = [
  'Check a Receipt or a bundle, offline unless you say otherwise; or follow the checkpoints of a service.',
  ...COMMANDS.map((command) => `${describeUsage(command)}\n      ${wrap(command.gist, 6)}`),
  OPTIONS.map(describeOption).join('\n'),
  'svc-receipt COMMAND --help says more of one command.',
  EXIT_CODES,
].join('\n\n');

/** What is about one command alone. */
export const helpOf = (name: string): string => {
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return HELP;
  const parts = [
    command.gist,
    describeUsage(command),
    optionsOf(command).map(describeOption).join('\n'),
    command.notes,
  ];
  return [...parts.filter((part) => part !== ''), EXIT_CODES].join('\n\n');
};

/** For `source <(svc-receipt completion bash)`. */
export const bashCompletion = (): string => {
  const flags = (options: readonly Option[]) => options.map(({ name }) => `--${name}`).join(' ');
  const cases = COMMANDS.map((one) => `    ${one.name}) options="${flags(optionsOf(one))}" ;;`);
  return `_svc_receipt() {
  local word=\${COMP_WORDS[COMP_CWORD]} options
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) options="${flags(optionsOf(COMMANDS[0] as CommandText))} --version" ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${COMMANDS.map(({ name }) => name).join(' ')}" -f -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _svc_receipt svc-receipt`;
};

const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** `man svc-receipt`, as roff. */
export const manPage = (version: string): string =>
  [
    `.TH SVC\\-RECEIPT 1 "" "svc ${version}"`,
    '.SH NAME',
    'svc\\-receipt \\- check Receipts and bundles, and follow the checkpoints of a service',
    '.SH SYNOPSIS',
    ...COMMANDS.flatMap(({ usage }) => usage.flatMap((one) => ['.nf', roff(one), '.fi'])),
    '.SH COMMANDS',
    ...COMMANDS.flatMap(({ name, gist, notes }) => [
      '.TP',
      `.B ${roff(name)}`,
      roff(gist),
      ...notes.split('\n\n').flatMap((part) => (part === '' ? [] : ['.IP', roff(part)])),
    ]),
    '.SH OPTIONS',
    ...OPTIONS.flatMap((one) => ['.TP', `.B ${roff(flagOf(one))}`, roff(one.meaning)]),
    '.SH EXIT STATUS',
    roff(EXIT_CODES),
    '',
  ].join('\n');
