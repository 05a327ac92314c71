/** Closed days outside the database: Parquet objects under a signed manifest (docs/ledger-format.md). */

export { clearDays } from './clear-days.ts';
export { type DayWork, dayWork } from './day-work.ts';
export { findDayProblem, isOfWhatIsStored } from './find-day-problem.ts';
export { dropDays } from './leave-days.ts';
export { type ColdDay, type ObjectEntry, parseColdDay, signColdDay, verifyColdDay } from './manifest.ts';
export {
  type PackedDay,
  packedOf,
  type ReadBackDay,
  readBackDay,
  type WrittenDay,
  writeDay,
} from './pack-day.ts';
export { type PackDaysDeps, packDays, packNamedDay } from './pack-days.ts';
export {
  type DayRows,
  packTables,
  proveReceipts,
  type TableObject,
} from './pack-tables.ts';
export { differenceOf, digestReceipts } from './prints.ts';
export { proveDay, workOf } from './prove-day.ts';
export { ColdDayReader } from './read-day.ts';
export {
  type ColumnBatch,
  type Condition,
  type FetchedGroup,
  groupReader,
  type ReadElsewhere,
  type ReadGroup,
  type SealedColumns,
  type Texts,
  type Wanted,
} from './read-group.ts';
export { manifestReader, type ReadManifest } from './read-manifest.ts';
export type { GroupSource, RowWithText } from './read-object.ts';
export { exportedText } from './receipt-jws.ts';
export { assertSameStore } from './same-store.ts';
export {
  type AttestationRow,
  COLUMNS_AS_READ,
  type ConsumptionRow,
  clearActions,
  type ReceiptRow,
  ROW_ORDER,
  SCHEMA_VERSION,
  type Stored,
  TABLES,
  type TableName,
} from './schema.ts';
export { hashOfManifest, manifestFolder, manifestName } from './store-manifest.ts';
export { namesBelow } from './stored-names.ts';
