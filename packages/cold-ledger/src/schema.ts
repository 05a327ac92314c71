/**
 * The columns of a cold day, version 1 (docs/ledger-format.md). They are the columns in PostgreSQL, with these
 * exceptions: the form in which a Receipt's JWS is stored (`receipt-jws.ts`); its content hash, which follows from the
 * JWS; and the Receipt's reason, which the database repeats in attestations.
 */
export const SCHEMA_VERSION = 1;

/** JavaScript type of each kind of column. An instant is a number of microseconds since 1970. */
interface Kinds {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly integer: bigint;
  readonly small: number;
  readonly instant: bigint;
  readonly flag: boolean;
}
export type Kind = keyof Kinds;

/** A `?` at the end: may be null. */
type Columns = Readonly<Record<string, Kind | `${Kind}?`>>;

export const TABLES = {
  receipts: {
    receipt_id: 'text',
    relying_party: 'text',
    principal: 'text?',
    grant_id: 'text?',
    agent: 'text?',
    key_id: 'text?',
    decision: 'text',
    reason: 'text?',
    evaluated_at: 'instant',
    action_type: 'text?',
    amount: 'integer?',
    currency: 'text?',
    resource: 'text?',
    method: 'text?',
    production_check: 'flag',
    header: 'text?',
    payload: 'text?',
    signature: 'bytes?',
    jws: 'text?',
  },
  attestations: {
    receipt_id: 'text',
    ordinal: 'small',
    attestation_id: 'text',
    relying_party: 'text',
    principal: 'text?',
    evaluated_at: 'instant',
    decision: 'text',
    type: 'text',
    occurred_at: 'text',
    recorded_at: 'instant',
    evidence_ref: 'text?',
    note: 'text?',
    correction_of: 'text?',
    reporter_signature: 'text?',
    resolution: 'text?',
    loss_amount: 'integer?',
    currency: 'text?',
    consumption_cause: 'text?',
    consumption_version: 'integer?',
  },
  consumption_events: {
    receipt_id: 'text',
    version: 'integer',
    grant_id: 'text',
    key: 'text',
    delta_total: 'integer',
    delta_period: 'integer',
    delta_uses: 'integer',
    period_start: 'instant?',
    cause: 'text',
    cause_id: 'text',
    recorded_at: 'instant',
  },
} as const satisfies Readonly<Record<string, Columns>>;

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

/** Columns that hold the parts of a JWS. */
export const JWS_PARTS = ['header', 'payload', 'signature'] as const;
type JwsPart = (typeof JWS_PARTS)[number];

type AsRead = readonly (readonly [name: string, kind: string])[];
const asRead = (table: TableName): AsRead =>
  Object.entries(TABLES[table]).filter(([name]) => !JWS_PARTS.some((part) => part === name));

/** Columns of each table as it is read: a Receipt has its JWS in one piece. */
export const COLUMNS_AS_READ: Readonly<Record<TableName, AsRead>> = {
  receipts: asRead('receipts'),
  attestations: asRead('attestations'),
  consumption_events: asRead('consumption_events'),
};

/** The column that orders the rows of one Receipt; null: a Receipt has one row. */
export const ROW_ORDER = {
  receipts: null,
  attestations: 'ordinal',
  consumption_events: 'version',
} as const satisfies Readonly<Record<TableName, string | null>>;

type ValueOf<K> = K extends `${infer Inner extends Kind}?`
  ? Kinds[Inner] | null
  : K extends Kind
    ? Kinds[K]
    : never;

/**
 * This text is handled in its UTF-8 form, which lies outside the heap. As strings, the payloads of a row group were
 * copied by the garbage collector again and again.
 */
export const LONG_TEXT = 'payload';

/** A row as it is stored. */
export type Stored<T extends TableName> = {
  readonly [Name in keyof (typeof TABLES)[T]]: Name extends typeof LONG_TEXT
    ? Uint8Array | null
    : ValueOf<(typeof TABLES)[T][Name]>;
};

/** A Receipt with its JWS in one piece. */
export type ReceiptRow = Omit<Stored<'receipts'>, JwsPart | 'jws'> & {
  readonly jws: string;
};
/** A Receipt as it is after seven years: without its action fields, but with its JWS as it was signed. */
export const clearActions = (row: ReceiptRow): ReceiptRow => ({
  ...row,
  ...{ action_type: null, amount: null, currency: null, resource: null, method: null },
});
export type AttestationRow = Stored<'attestations'>;
export type ConsumptionRow = Stored<'consumption_events'>;

/** Columns that no query searches by value; they have no statistics. */
export const UNSEARCHED: ReadonlySet<string> = new Set([...JWS_PARTS, 'jws']);
