/**
 * Converts bytes to one gzip member (RFC 1952) and back. Reading is streamed and stops at the limit, so a small input
 * cannot cause a large allocation. The member must be the whole input, without optional header fields, and its length
 * and CRC-32 must be right.
 */
import { concatBytes } from '@svc/codec';
import { Gunzip, gzipSync } from 'fflate';

/**
 * DEFLATE expands at most 1,032 times, so one slice exceeds the limit by at most about 1 MiB before the limit is
 * checked.
 */
const SLICE_BYTES = 1024;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const BARE_HEADER = /* @__PURE__ */ Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 3);

/** Reproducible with a given release of the compressor: the time stamp is zero and no name is written. */
export const gzip = (bytes: Uint8Array): Uint8Array => gzipSync(bytes, { mtime: 0, level: 6 });

/** The content of the gzip member `data`; null if `data` is anything else, or the content is longer than `maxBytes`. */
export function gunzip(data: Uint8Array, maxBytes: number): Uint8Array | null {
  if (data.length < HEADER_BYTES + TRAILER_BYTES || data[3] !== 0) return null;
  const trailer = new DataView(data.buffer, data.byteOffset + data.length - TRAILER_BYTES, TRAILER_BYTES);
  const content = inflateMember(data, maxBytes);
  if (content === null || content.length !== trailer.getUint32(4, true)) return null;
  return crc32(content) === trailer.getUint32(0, true) ? content : null;
}

function inflateMember(data: Uint8Array, maxBytes: number): Uint8Array | null {
  const parts: Uint8Array[] = [];
  const memberStarts: number[] = [];
  let length = 0;
  const stream = new Gunzip((part) => {
    parts.push(part);
    length += part.length;
  });
  stream.onmember = (offset) => memberStarts.push(offset);
  try {
    for (let at = 0; at < data.length; at += SLICE_BYTES) {
      stream.push(data.subarray(at, at + SLICE_BYTES));
      if (length > maxBytes) return null;
    }
    // A second header is pushed after the input. The decompressor recognises it only where a member has just ended. So
    // the offset that it reports for this header shows whether the input was exactly one complete member.
    stream.push(BARE_HEADER);
  } catch {
    return null;
  }
  const [end] = memberStarts;
  return memberStarts.length === 1 && end === data.length && length <= maxBytes ? concatBytes(parts) : null;
}

const CRC_TABLE = /* @__PURE__ */ Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 (ISO-HDLC), as gzip writes it. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
