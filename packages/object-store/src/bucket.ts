/**
 * Objects in a bucket of S3, or of storage with its protocol. An object is created with `If-None-Match: *`.
 *
 * - If the server answers that it does not support the condition, the driver asks whether the object exists. If not, it
 *   writes the object without the condition, and the caller reads back what the server then has.
 * - If the server ignores the condition silently, an object can be replaced only by the same bytes, since its name is
 *   their hash.
 */
import { addAbortSignal, type Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchBucket,
  PutObjectCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { ObjectStoreError } from '@svc/service';
import { type ByteRange, type Driver, FinalError, MAX_OBJECT_BYTES } from './driver.ts';
import { assertHashOf } from './names.ts';
import type { BucketPlace } from './parse-place.ts';
import { Places } from './places.ts';
import { openS3 } from './s3.ts';

const ATTEMPTS = 4;
const AT_ONCE = 8;
const CONNECT_MS = 3_000;

const NOT_FOUND = 404;
const PRECONDITION_FAILED = 412;
/** The range lies after the end of the object. */
const OUTSIDE = 416;
const NOT_IMPLEMENTED = 501;
/** Refusals that may not recur at another attempt: a time-out, another write under way, too many requests. */
const PASSING = new Set([408, 409, 425, 429]);

export const openBucket = (
  { bucket: Bucket, prefix }: BucketPlace,
  endpoint: string | null,
): Driver & { close(): void } => {
  // The caller of this driver repeats requests and hashes bodies.
  const client = openS3(endpoint, { requestHandler: { connectionTimeout: CONNECT_MS } });
  const size = async (name: string, abortSignal: AbortSignal): Promise<number | null> => {
    const head = await unless([NOT_FOUND], () =>
      client.send(new HeadObjectCommand({ Bucket, Key: prefix + name }), { abortSignal }),
    );
    return typeof head === 'number' ? null : (head.ContentLength ?? null);
  };
  const put = (
    name: string,
    Body: Uint8Array,
    condition: { readonly IfNoneMatch?: '*' },
    abortSignal: AbortSignal,
  ) => {
    const ChecksumSHA256 = Buffer.from(assertHashOf(name), 'hex').toString('base64');
    const object = { Bucket, Key: prefix + name, Body, ChecksumSHA256, ...condition };
    return unless([PRECONDITION_FAILED, NOT_IMPLEMENTED], () =>
      client.send(new PutObjectCommand(object), { abortSignal }),
    );
  };
  const replace = async (name: string, bytes: Uint8Array, abortSignal: AbortSignal): Promise<void> => {
    if (typeof (await put(name, bytes, {}, abortSignal)) === 'number')
      throw new FinalError('it cannot store objects');
  };
  return {
    ...{ attempts: ATTEMPTS, places: Places.of(AT_ONCE) },
    async create(name, bytes, abortSignal) {
      const answer = await put(name, bytes, { IfNoneMatch: '*' }, abortSignal);
      if (typeof answer !== 'number') return 'created';
      if (answer === PRECONDITION_FAILED || (await size(name, abortSignal)) !== null) return 'there';
      await replace(name, bytes, abortSignal);
      return 'written';
    },
    replace,
    async read(name, range, abortSignal) {
      const Range = range === null ? undefined : `bytes=${range.offset}-${range.offset + range.length - 1}`;
      const answer = await unless([NOT_FOUND, OUTSIDE], () =>
        client.send(new GetObjectCommand({ Bucket, Key: prefix + name, Range }), { abortSignal }),
      );
      if (typeof answer !== 'number') return collect(answer, range, abortSignal);
      return answer === NOT_FOUND ? null : new Uint8Array();
    },
    size,
    async list(folder, after, limit, abortSignal) {
      const command = new ListObjectsV2Command({
        ...{ Bucket, Prefix: `${prefix}${folder}/`, MaxKeys: limit },
        ...(after === null ? {} : { StartAfter: prefix + after }),
      });
      const { Contents = [], IsTruncated } = await refused(() => client.send(command, { abortSignal }));
      const keys = Contents.map(({ Key = '' }) => {
        if (!Key.startsWith(prefix)) throw new Error('the listing has keys of another prefix');
        return Key.slice(prefix.length);
      });
      return { keys, isLast: IsTruncated !== true };
    },
    async remove(name, abortSignal) {
      await unless([NOT_FOUND], () =>
        client.send(new DeleteObjectCommand({ Bucket, Key: prefix + name }), { abortSignal }),
      );
    },
    close: () => client.destroy(),
  };
};

/** The answer, or the one of these statuses that came instead of it. */
const unless = async <T>(statuses: readonly number[], send: () => Promise<T>): Promise<T | number> => {
  try {
    return await refused(send);
  } catch (error) {
    const status = statusOf(error instanceof FinalError ? error.cause : error);
    if (status !== null && statuses.includes(status)) return status;
    throw error;
  }
};

/** A permanent refusal of the server is final, so that the request is not repeated. */
const refused = async <T>(send: () => Promise<T>): Promise<T> => {
  try {
    return await send();
  } catch (error) {
    const status = statusOf(error);
    if (status === null || status < 400 || status >= 500 || PASSING.has(status)) throw error;
    throw new FinalError(`${status} ${error instanceof Error ? error.name : ''}`, { cause: error });
  }
};

/** A missing bucket says nothing about an object. */
const statusOf = (error: unknown): number | null => {
  if (!(error instanceof S3ServiceException)) return null;
  return error instanceof NoSuchBucket ? 400 : (error.$metadata.httpStatusCode ?? null);
};

const isOf = ({ offset, length }: ByteRange, contentRange = ''): boolean =>
  contentRange.startsWith(`bytes ${offset}-${offset + length - 1}/`);

/** The body, limited to the length that was requested. */
const collect = async (
  { Body, ContentRange, ContentLength }: GetObjectCommandOutput,
  range: ByteRange | null,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const body = addAbortSignal(signal, Body as Readable);
  const most = range?.length ?? MAX_OBJECT_BYTES;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    if (range !== null && !isOf(range, ContentRange))
      throw new ObjectStoreError(
        'wrong-bytes',
        `other bytes came than were asked for: ${ContentRange ?? 'all'}`,
      );
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > most) throw new Error(`more than ${most} bytes came`);
      chunks.push(chunk);
    }
  } finally {
    body.destroy();
  }
  if (ContentLength !== undefined && length !== ContentLength)
    throw new Error(`${length} of ${ContentLength} bytes came`);
  return Buffer.concat(chunks, length);
};
