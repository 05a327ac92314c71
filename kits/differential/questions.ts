/**
 * Random questions near the border between right and wrong: honest material with a few changes, signed again or not.
 */
import { createHash, createHmac, sign } from 'node:crypto';
import {
  encodeBase64url,
  encodeUtf8,
  formatDidKey,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jcs,
} from '@svc/codec';
import { createBitstring, encodeBitstring, setBit } from '@svc/status-list';
import { attestTo, bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildStatusList,
  buildWorld,
  receiptSigner,
  serviceDocument,
  statusSigner,
} from '@svc/testkit/receipts/world';
import { ATTESTATION_TYP } from '@svc/transparency';
import {
  mutateBytes,
  mutateCharacters,
  mutateJson,
  mutateJsonText,
  mutateParts,
} from '@svc/vectors/src/random/mutations.ts';
import { anyJson, ODD_STRINGS } from '@svc/vectors/src/random/odd-values.ts';
import type { Random } from '@svc/vectors/src/random/random.ts';
import { randomInput } from '@svc/vectors/src/random/random-input.ts';
import { respell } from '@svc/vectors/src/random/random-url.ts';
import type { Question } from './answers.ts';
import { keyPairOf, publicKeyOf } from './key-pair.ts';

const hex = (text: string): string => Buffer.from(encodeUtf8(text)).toString('hex');
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const randomBytes = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => random.below(256));

/** Honest Receipts, ALLOW and DENY, with what was published for their days. */
const worlds = await Promise.all(
  [{}, { revoked: true }, { profile: 'svc-base-v2' as const }].map((one) => buildWorld(one)),
);
/** One of the days has only one Receipt, because some languages treat its size, 1, as equal to `true`. */
const days = await Promise.all(
  [
    ...worlds.map((world) => ({ world })),
    ...worlds.slice(0, 1).map((world) => ({ world, before: 0, after: 0 })),
  ].map(async ({ world, ...others }) => {
    const day = await closeDayOf(world, others);
    const attestation = await attestTo({ id: world.body.receipt_id, jws: world.signed.jws }, day);
    const bundle = bundleOf(world, day) as unknown as JsonObject;
    return { world, bundle, attestation, closedAt: day.checkpoint.iat };
  }),
);
const DOCUMENT = JSON.stringify(serviceDocument);

/**
 * Replaces values by others from the same JSON, such as a decision, hash, time or word: well-formed but wrong values.
 */
const exchange = (value: JsonValue, random: Random): JsonValue => {
  const copy = structuredClone(value) as JsonObject;
  const places: { readonly of: Record<string, JsonValue>; readonly name: string }[] = [];
  const walk = (of: Record<string, JsonValue>): void => {
    for (const name of Object.keys(of)) {
      places.push({ of, name });
      const inner = of[name];
      if (typeof inner === 'object' && inner !== null) walk(inner as Record<string, JsonValue>);
    }
  };
  walk(copy as Record<string, JsonValue>);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const [to, from] = [random.pick(places), random.pick(places)];
    const words = [
      true,
      false,
      'skipped',
      'ALLOW',
      'DENY',
      'PASS',
      'FAIL',
      null,
      'PROOF_REPLAYED',
      'SERVICE_UNAVAILABLE',
    ];
    if (random.below(3) === 0) to.of[to.name] = structuredClone(from.of[from.name] ?? null);
    else if (random.below(4) === 0) delete to.of[to.name];
    else to.of[to.name] = random.pick(words);
  }
  return copy;
};

const change = (value: JsonValue, random: Random): JsonValue =>
  random.below(3) === 0 ? mutateJson(value, random) : exchange(value, random);

/** Without lone surrogates, which cannot be encoded as bytes. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Signed with a key of the service, whatever the content. */
const signed = (signer: typeof receiptSigner, typ: string, payload: string, headerText?: string): string => {
  const header = headerText ?? jcs({ alg: 'EdDSA', kid: signer.kid, typ });
  const input = `${encodeBase64url(encodeUtf8(header))}.${encodeBase64url(encodeUtf8(payload))}`;
  return `${input}.${encodeBase64url(signer.sign(encodeUtf8(input)) as Uint8Array)}`;
};

const textOf = (value: JsonValue): string => {
  try {
    return jcs(value);
  } catch {
    return wellFormed(JSON.stringify(value));
  }
};

const partsOf = (jws: string): readonly [header: string, payload: string] => {
  const [header = '', payload = ''] = jws.split('.');
  return [Buffer.from(header, 'base64url').toString(), Buffer.from(payload, 'base64url').toString()];
};

/** The JWS with another payload or header, signed with the same key. */
const resigned = (jws: string, signer: typeof receiptSigner, random: Random): string => {
  const [header, payload] = partsOf(jws);
  const value = JSON.parse(payload) as JsonValue;
  switch (random.below(6)) {
    case 0:
      return signed(signer, '', payload, wellFormed(mutateJsonText(header, random)));
    case 1:
      return signed(signer, '', payload, textOf(mutateJson(JSON.parse(header), random)));
    case 2:
      return signed(signer, '', wellFormed(mutateJsonText(payload, random)), header);
    default:
      return signed(signer, '', textOf(change(value, random)), header);
  }
};

const receiptText = (random: Random): string => {
  const { text, jws } = random.pick(worlds).signed;
  const [, payload] = partsOf(jws);
  switch (random.below(8)) {
    case 0:
      return text;
    case 1:
      return wellFormed(mutateJsonText(text, random));
    case 2:
      return wellFormed(mutateCharacters(text, random));
    case 3:
      return textOf(change(JSON.parse(text), random));
    default: {
      const other = resigned(jws, receiptSigner, random);
      const [, shown] = partsOf(other);
      try {
        return textOf({
          ...(JSON.parse(random.below(9) === 0 ? payload : shown) as JsonObject),
          receipt: other,
        });
      } catch {
        return text;
      }
    }
  }
};

/** The service's DID document as it may be years later. */
const documentText = (random: Random): string => {
  if (random.below(3) > 0) return DOCUMENT;
  const document = structuredClone(serviceDocument) as unknown as {
    verificationMethod: Record<string, unknown>[];
  };
  const bounds = ['2026-11-19T00:00:00Z', '2026-11-20T08:00:01Z', '2026-11-22T00:00:00Z', 'x'];
  const method = random.pick(document.verificationMethod);
  const name = random.pick(['svc:validFrom', 'svc:validUntil', 'revoked', 'type', 'controller', 'id']);
  if (random.below(4) === 0) return wellFormed(JSON.stringify(mutateJson(JSON.parse(DOCUMENT), random)));
  method[name] = random.pick(bounds);
  return JSON.stringify(document);
};

const partsOfADay = (random: Random): { readonly bundle: JsonObject; readonly attestation: string } => {
  const day = random.pick(days);
  const { bundle } = day;
  return {
    bundle: random.below(3) === 0 ? bundle : (change(bundle, random) as JsonObject),
    attestation: attestationText(day, random),
  };
};

/** '' means no attestation, which suffices while the keys are in force. */
const attestationText = (
  { attestation: honest, closedAt }: (typeof days)[number],
  random: Random,
): string => {
  switch (random.below(9)) {
    case 0:
      return random.pick(days).attestation;
    case 1:
      return token(honest, random);
    case 2:
      return resigned(honest, random.pick([statusSigner, statusSigner, receiptSigner]), random);
    case 3:
    case 4:
      return honest;
    case 5: {
      // An attestation cannot be older than its checkpoint, except for a clock that is behind.
      const iat = closedAt + random.pick([-86_400, -301, -300, -299, 0]);
      const said = JSON.parse(partsOf(honest)[1]) as JsonObject;
      return signed(statusSigner, ATTESTATION_TYP, jcs({ ...said, iat }));
    }
    default:
      return '';
  }
};

const SHA256_OF_NOTHING = `sha256:${createHash('sha256').digest('hex')}`;

/** Evidence in base64url, in its only valid spelling or almost; or evidence of no bytes. */
const withRespelledEvidence = (bundle: JsonObject, random: Random): JsonObject => {
  const evidence = (bundle.evidence as unknown as readonly { readonly body: string }[]).map((item) => {
    const spelled = encodeBase64url(encodeUtf8(item.body));
    const added = random.pick(['', '', '\n', '\r\n', '=', ' ', '!', 'A', '.A']);
    return random.below(2) === 0 ? item : { ...item, body: spelled + added };
  });
  const body = random.pick(['', '!', '=', '\n', 'A', 'AA']);
  const none = { hash: SHA256_OF_NOTHING, content_type: '', body };
  return {
    ...bundle,
    evidence: (random.below(3) === 0 ? [...evidence, none] : evidence) as unknown as JsonValue,
  };
};

/** As many items of evidence as a bundle may have, or one more. */
const withRepeatedEvidence = (bundle: JsonObject, random: Random): JsonObject => {
  const evidence = bundle.evidence as readonly JsonValue[];
  const repeated = Array.from(
    { length: random.pick([16, 17]) },
    (_, i) => evidence[i % evidence.length] ?? null,
  );
  return { ...bundle, evidence: repeated };
};

const bundleText = (random: Random): string => {
  const { bundle, attestation } = partsOfADay(random);
  const withOther = random.pick([withRespelledEvidence, withRespelledEvidence, withRepeatedEvidence]);
  const shown = random.below(3) === 0 ? withOther(random.pick(days).bundle, random) : bundle;
  return textOf(attestation === '' ? shown : { ...shown, attestation });
};

/** Characters that some languages treat as white space. */
const SPACES = [
  '',
  ' ',
  '\t',
  '\r\n',
  '\ufeff',
  '\u0085',
  '\u00a0',
  '\u000b',
  '\u000c',
  '\u001c',
  '\u001f',
  '\u2028',
];

/** A checkpoint from elsewhere: its record, unchanged or with another member, or its JWS; '' means none. */
const checkpointText = (record: JsonValue | undefined, random: Random): string => {
  if (random.below(2) === 0) return '';
  if (!isJsonObject(record ?? null)) return record === undefined ? 'null' : textOf(record);
  const { checkpoint } = record as JsonObject;
  switch (random.below(4)) {
    case 0:
      return textOf(exchange(record as JsonObject, random));
    case 1:
      if (typeof checkpoint !== 'string' || checkpoint === '') return textOf(record as JsonObject);
      return `${random.pick(SPACES)}${checkpoint}${random.pick(SPACES)}`;
    default:
      return textOf(record as JsonObject);
  }
};

/** A document in which keys have ended or leaked, so that an attestation decides. */
const laterDocumentText = (random: Random): string => {
  if (random.below(2) === 0) return documentText(random);
  const document = structuredClone(serviceDocument) as unknown as {
    verificationMethod: Record<string, unknown>[];
  };
  const [first] = document.verificationMethod;
  const method = random.below(4) === 0 ? random.pick(document.verificationMethod) : first;
  if (method !== undefined)
    method[random.pick(['svc:validUntil', 'revoked'])] = random.pick([
      '2026-11-20T08:00:00Z',
      '2026-11-22T00:00:00Z',
    ]);
  return JSON.stringify(document);
};

const statusLists = await Promise.all(
  [
    {},
    { revoked: true },
    { listValidUntil: '2026-11-21T00:00:00Z' },
    { listIssuer: 'did:web:other.example' },
  ].map((one) => buildStatusList(one)),
);

const statusListQuestion = (random: Random): Question => {
  const list = random.pick(statusLists);
  const text =
    random.below(4) === 0
      ? token(list, random)
      : random.below(3) === 0
        ? list
        : resigned(list, random.pick([statusSigner, statusSigner, receiptSigner]), random);
  return { op: 'statusList', text: hex(text), document: laterDocumentText(random) };
};

/** An answer of `POST /verify/dry-run`, honest or forged. */
const dryRunText = (random: Random): string => {
  const { body, signed: receipt } = random.pick(worlds);
  const { receipt_id: _, decision, capability: __, ...shared } = body as unknown as JsonObject;
  const dryRun: JsonObject = {
    ...{ dry_run: 'nothing was decided', would: decision === 'ALLOW' ? 'allow' : 'deny', remedy: null },
    ...{
      reason: null,
      evaluated_at: null,
      relying_party: null,
      principal: null,
      grant_id: null,
      agent: null,
    },
    ...{ checks: {}, failed: [], closest_capability: null },
    ...shared,
  };
  const { dry_run: mark, ...unmarked } = dryRun;
  const more: readonly JsonObject[] = [
    {},
    { decision: 'ALLOW' },
    { ...(body as unknown as JsonObject), decision: 'ALLOW' },
    { receipt: signed(receiptSigner, 'svc-receipt+jwt', textOf(dryRun)) },
    { receipt: signed(receiptSigner, 'svc-receipt+jwt', textOf({ ...unmarked, decision: 'ALLOW' })) },
    { receipt: receipt.jws },
  ];
  const answer = { ...dryRun, ...random.pick(more), dry_run: mark ?? null };
  return textOf(
    random.below(3) === 0 ? { ...(exchange(answer, random) as JsonObject), dry_run: mark ?? null } : answer,
  );
};

const PRINCIPAL = 'did:web:acme.example';
const LIST = 'https://status.svc.example/acme.example/1';

/** An answer of `POST /grants` and the Grant that the Principal wants; some are changed. */
const signGrantQuestion = (random: Random): Question => {
  const agents = pairs.map((pair) => formatDidKey(publicKeyOf(pair)));
  const allocation: JsonObject = {
    id: 'urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT',
    issuer: PRINCIPAL,
    agent: random.pick(agents),
    allocated_at: '2026-11-20T08:00:00.000Z',
    credentialStatus: {
      id: `${LIST}#7`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: '7',
      statusListCredential: LIST,
    },
  };
  const purchase: JsonObject = {
    action: 'commerce:purchase',
    constraints: { maxAmount: random.below(100_000), currency: random.pick(['USD', 'EUR', 'usd']) },
    resources: ['order/*'],
  };
  const call: JsonObject = {
    action: 'api:call',
    constraints: { methods: ['GET', 'POST'] },
    resources: [wellFormed(respell('https://shop.example/a/*', random))],
  };
  const capabilities: JsonValue = Array.from({ length: 1 + random.below(3) }, () =>
    structuredClone(random.pick([purchase, call])),
  );
  const isChanged = random.below(3) === 0;
  const audience = random.pick([null, null, [DIDS[0] ?? ''], DIDS.slice(0, 2), [random.pick(DIDS)], []]);
  return {
    op: 'signGrant',
    seed: hexOf(randomBytes(random, 32)),
    kid: random.pick([
      `${PRINCIPAL}#key-1`,
      `${PRINCIPAL}#key-1`,
      `${PRINCIPAL}#key-1`,
      'did:web:other.example#key-1',
    ]),
    allocation,
    capabilities: isChanged
      ? ((exchange({ capabilities }, random) as JsonObject).capabilities ?? null)
      : capabilities,
    audience,
    valid_from: random.pick([0, 951_782_399, DELIVERED_AT, DELIVERED_AT + random.below(1_000_000_000)]),
    lifetime_seconds: random.pick([1, 3_600, 2_592_000, 7_776_000, 7_776_001, -1]),
  };
};

const WEBHOOK_SECRETS = [1, 2].map((filling) => `whsec_${Buffer.alloc(32, filling).toString('base64')}`);
const SUBSCRIPTION = 'whs_01M7VZGC008Q2R7V9X1C4E6H8R';
/** Within the validity of each key, unless that is what was changed. */
const DELIVERED_AT = 1_795_168_798;

/** A delivery of an event, in most cases signed with a trusted key or secret; some are changed on the way. */
const webhookQuestion = (random: Random): Question => {
  const event: JsonObject = {
    type: 'grant.revoked',
    timestamp: '2026-11-20T08:00:00.000Z',
    subscription_id: SUBSCRIPTION,
    data: {
      grant_id: 'urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT',
      note: random.below(3) === 0 ? random.pick(ODD_STRINGS) : '\u{e9}',
    },
  };
  const value = random.below(6) === 0 ? change(event, random) : event;
  const sent = random.below(8) === 0 ? wellFormed(mutateJsonText(textOf(value), random)) : textOf(value);
  const at = String(DELIVERED_AT + random.pick([0, 0, 0, 0, 0, 299, 300, 301, -300, -301]));
  // A full stop in an id is indistinguishable from one between the signed parts.
  const id = random.below(12) === 0 ? 'evt.1' : 'evt_1';
  const input = encodeUtf8(`${id}.${at}.${sent}`);
  const bySecret = (secret = ''): string =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(input)
      .digest('base64')}`;
  const byKey = (signer: typeof statusSigner): string =>
    `v1a,${Buffer.from(signer.sign(input) as Uint8Array).toString('base64')}`;
  const signatures = Array.from({ length: 1 + random.below(3) }, () =>
    random.pick([
      ...WEBHOOK_SECRETS.map((secret) => bySecret(secret)),
      ...[byKey(statusSigner), byKey(statusSigner), byKey(receiptSigner), 'v1,', 'v1', 'v2,AAAA', 'v1a,AAAA'],
    ]),
  ).join(' ');
  const edited = (text: string): string =>
    random.below(12) === 0 ? wellFormed(mutateCharacters(text, random)) : text;
  const body = encodeUtf8(sent);
  const [trusts, place] = [random.below(3), random.below(body.length)];
  return {
    op: 'webhook',
    headers: {
      [random.pick(['webhook-id', 'Webhook-Id'])]: random.below(12) === 0 ? 'evt_2' : id,
      'webhook-timestamp': edited(at),
      'webhook-signature': edited(signatures),
    },
    text: hexOf(
      random.below(12) === 0
        ? body.map((byte, i) => (i === place ? byte ^ (1 << random.below(8)) : byte))
        : body,
    ),
    secrets: trusts === 0 ? [] : WEBHOOK_SECRETS.slice(0, 1 + random.below(2)),
    document: trusts === 1 ? '' : documentText(random),
    subscription: random.below(6) > 0 ? SUBSCRIPTION : random.pick(['', `${SUBSCRIPTION.slice(0, -1)}S`]),
    now: DELIVERED_AT,
  };
};

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
/** The 8 points of small order, some in both spellings. */
const TORSION = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];
const pairs = Array.from({ length: 8 }, (_, i) => keyPairOf(new Uint8Array(32).fill(i + 1)).key);

const littleEndian = (number: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((number >> BigInt(8 * i)) & 255n));

const flipBit = (bytes: Uint8Array, random: Random): void => {
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
};

const signature = (random: Random): Question => {
  const pair = random.pick(pairs);
  const message = randomBytes(random, random.below(80));
  const made = new Uint8Array(sign(null, message, pair));
  let key = publicKeyOf(pair);
  const s = made.subarray(32).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  switch (random.below(8)) {
    case 0:
      made.set(littleEndian(s + L), 32);
      break;
    case 1:
      made.set(Buffer.from(random.pick(TORSION), 'hex'));
      break;
    case 2:
      key = new Uint8Array(Buffer.from(random.pick(TORSION), 'hex'));
      break;
    case 3:
      flipBit(made, random);
      break;
    case 4:
      key = key.slice(0, random.below(33));
      break;
    default:
  }
  return { op: 'ed25519', key: hexOf(key), message: hexOf(message), signature: hexOf(made) };
};

/** Numbers of random bits, and numbers at which the notation changes. */
const numberText = (random: Random): string => {
  const bits = randomBytes(random, 8);
  const value = new DataView(bits.buffer).getFloat64(0);
  const finite = Number.isFinite(value) ? value : 0;
  const tens = 10 ** (random.below(50) - 25) * (1 + random.below(1000));
  return random.pick([
    String(finite),
    finite.toExponential(),
    String(tens),
    tens.toFixed(5),
    (-tens).toExponential(7),
  ]);
};

const jsonText = (random: Random): string => {
  const text = JSON.stringify(anyJson(random)) ?? 'null';
  return wellFormed(random.below(2) === 0 ? text : mutateCharacters(text, random));
};

const TIMES = [
  '2026-02-29T00:00:00Z',
  '2024-02-29T23:59:59.999999999Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2026-11-20T24:00:00Z',
  '2100-02-29T00:00:00.1Z',
  '0000-02-29T12:00:00.05Z',
];
const DIDS = [
  'did:web:shop.example',
  'did:web:a.b-c.example%3A8443:org:x',
  'did:web:a.0x1f',
  'did:web:xn--a.1',
  'did:web:a%3A65536',
  'did:web:a:..:b',
  'did:web:A.example',
];

/** A Grant, a Proof and an Action, changed by the edits of the vectors. */
const nextInput = (random: Random): { grant: string; proof: string; action: JsonValue } => {
  for (;;) {
    const next = Object(randomInput(random)) as Record<string, unknown>;
    if (typeof next.grant === 'string' && typeof next.proof === 'string')
      return { grant: next.grant, proof: next.proof, action: (next.action ?? null) as JsonValue };
  }
};

const token = (text: string, random: Random): string => {
  const others = [
    mutateBytes,
    mutateCharacters,
    (one: string, by: Random) => mutateParts(one, 'e30.e30.e30', by),
  ];
  return wellFormed(random.below(5) === 0 ? random.pick(others)(text, random) : text);
};

const merkleQuestion = (random: Random): Question => {
  const { inclusion } = random.pick(days).bundle as unknown as { inclusion: Record<string, never> };
  const path = [...(inclusion.audit_path as unknown as string[])];
  if (random.below(3) === 0)
    path.splice(
      random.below(path.length + 1),
      random.below(2),
      hexOf(randomBytes(random, 31 + random.below(3))),
    );
  const size = Number(inclusion.tree_size) + random.pick([0, 0, 0, 1, -1, 2 ** 40]);
  const index = Number(inclusion.leaf_index) + random.pick([0, 0, 0, 1, -1]);
  return {
    op: 'merkle',
    leaf: inclusion.leaf,
    index,
    size,
    path,
    root: String(inclusion.root).slice('sha256:'.length),
  };
};

const lists = [131_072, 262_144].map((entries) => {
  const bits = createBitstring(entries);
  for (let i = 0; i < entries; i += 997) setBit(bits, i);
  return encodeBitstring(bits);
});

/** By weight: questions that are cheap and have many edge cases come often. */
const KINDS: readonly (readonly [weight: number, make: (random: Random) => Question])[] = [
  [12, (random) => ({ op: 'json', text: hex(jsonText(random)) })],
  [2, (random) => ({ op: 'json', text: hexOf(randomBytes(random, random.below(12))) })],
  [
    10,
    (random) => ({
      op: 'jcs',
      text: hex(random.below(2) === 0 ? numberText(random) : wellFormed(JSON.stringify(anyJson(random)))),
    }),
  ],
  [
    12,
    (random) => ({
      op: 'htu',
      url: hex(
        wellFormed(
          respell(
            random.pick(['https://shop.example/a/b', 'http://[::1]:80/x', 'HTTPS://A_b%7e.example']),
            random,
          ),
        ),
      ),
    }),
  ],
  [
    3,
    (random) => ({
      op: 'jti',
      text: hex(wellFormed(mutateCharacters('dGhlIG5vbmNlIG9mIGEgdGVzdA', random))),
    }),
  ],
  [4, (random) => ({ op: 'didWeb', text: hex(wellFormed(mutateCharacters(random.pick(DIDS), random))) })],
  [
    4,
    (random) => ({
      op: 'time',
      text: hex(
        wellFormed(random.below(2) === 0 ? random.pick(TIMES) : mutateCharacters(random.pick(TIMES), random)),
      ),
    }),
  ],
  [6, signature],
  [
    2,
    (random) => ({
      op: 'strictKey',
      key: random.below(2) === 0 ? hexOf(randomBytes(random, 32)) : random.pick(TORSION),
    }),
  ],
  [6, (random) => ({ op: 'action', text: hex(textOf(nextInput(random).action)) })],
  [8, (random) => ({ op: 'proof', token: hex(token(nextInput(random).proof, random)) })],
  [10, (random) => ({ op: 'grant', token: hex(token(nextInput(random).grant, random)) })],
  [14, (random) => ({ op: 'receipt', text: hex(receiptText(random)), document: documentText(random) })],
  [
    4,
    (random) => {
      const { checkpoint } = random.pick(days).bundle.checkpoint as unknown as { checkpoint: string };
      const text =
        random.below(4) === 0 ? token(checkpoint, random) : resigned(checkpoint, statusSigner, random);
      return { op: 'checkpoint', text: hex(text), document: documentText(random) };
    },
  ],
  [
    5,
    (random) => {
      const { bundle, attestation } = partsOfADay(random);
      const { receipt, inclusion, checkpoint } = bundle;
      const part = (value: JsonValue | undefined): string => (value === undefined ? 'null' : textOf(value));
      return {
        op: 'included',
        receipt: part(receipt),
        inclusion: part(inclusion),
        checkpoint: checkpointText(checkpoint, random),
        attestation: attestation === '' ? '' : `${random.pick(SPACES)}${attestation}`,
        document: laterDocumentText(random),
      };
    },
  ],
  [4, (random) => ({ op: 'bundle', text: hex(bundleText(random)), document: laterDocumentText(random) })],
  [2, statusListQuestion],
  [2, (random) => ({ op: 'dryRun', text: hex(dryRunText(random)), document: documentText(random) })],
  [3, signGrantQuestion],
  [3, merkleQuestion],
  [6, webhookQuestion],
  [
    1,
    (random) => {
      const list = random.pick(lists);
      return {
        op: 'bitstring',
        text: hex(random.below(4) === 0 ? list : wellFormed(mutateCharacters(list, random))),
      };
    },
  ],
  [
    3,
    (random) => ({
      op: 'signProof',
      seed: hexOf(randomBytes(random, 32)),
      request: {
        method: random.pick(['POST', 'POST', 'POST', 'POST', 'post', '']),
        url:
          random.below(3) === 0
            ? wellFormed(respell('https://shop.example/a', random))
            : 'https://shop.example/a?b',
        action: random.pick([
          {
            type: 'commerce:purchase',
            resource: random.below(3) === 0 ? wellFormed(random.pick(ODD_STRINGS)) : 'order/7\u00e9\u{1f980}',
            amount: random.below(1000),
            currency: 'USD',
          },
          { type: 'api:call', method: 'POST', resource: 'https://shop.example/a' },
        ]),
        audience: random.pick(DIDS.slice(0, random.below(3) === 0 ? 7 : 2)),
        grant_id: 'urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT',
        now: 1_795_168_798 + random.below(1_000_000),
        jti: random.pick(
          ['dGhlIG5vbmNlIG9mIGEgdGVzdA', 'a'.repeat(64), 'short', 'a'.repeat(65)].slice(
            0,
            random.below(3) === 0 ? 4 : 2,
          ),
        ),
      },
    }),
  ],
];

const BAG = KINDS.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

/** The next question. Some edits cannot follow another one; they throw, and another question is made. */
export const nextQuestion = (random: Random): Question => {
  for (;;) {
    try {
      return random.pick(BAG)(random);
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
    }
  }
};
