/**
 * How column types become JavaScript values, on every connection of this package: int8 as a checked safe integer,
 * timestamptz as milliseconds since the epoch, bytea as a plain Uint8Array. Other types are as in pg.
 */
import pg from 'pg';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const BYTEA = 17;

const parseDate: (text: string) => Date = pg.types.getTypeParser(TIMESTAMPTZ);
const parseBuffer: (text: string) => Buffer = pg.types.getTypeParser(BYTEA);

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 outside the safe integers: ${text}`);
  return value;
}

function parseBytes(text: string): Uint8Array {
  const buffer = parseBuffer(text);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, parseInt8],
  [TIMESTAMPTZ, (text) => parseDate(text).getTime()],
  [BYTEA, parseBytes],
]);

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
};
