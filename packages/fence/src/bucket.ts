/**
 * Objects in a bucket of S3, or of storage with its protocol and conditional writes (`If-Match`, `If-None-Match` on
 * PutObject). Some storage ignores the conditions and answers as if they had held. So before the first write one object
 * is written under conditions that do not hold, and the bucket must refuse that.
 */
import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { BucketPlace } from '@svc/object-store';
import { openS3 } from '@svc/object-store/s3';
import type { FenceStore } from '@svc/service';
import { MayNotWrite } from './may-not-write.ts';

export interface Bucket extends FenceStore {
  /** Rejects where the bucket does not refuse a write whose condition does not hold. */
  assertConditional(): Promise<void>;
  close(): void;
}

const AT_ONCE = 10;
/** Longer than any caller waits for an answer. A request that hangs is given up, so that it keeps no connection. */
const REQUEST_DEADLINE_MS = 10_000;

/** Another writer was first: the condition failed, or another conditional write of the object is under way. */
const LOST = new Set([409, 412]);
const FORBIDDEN = 403;
const NOT_IMPLEMENTED = 501;

/** The object by which the bucket is tried. Its content never changes, and nothing reads it. */
const PROBE_KEY = 'probe';
const PROBE = '{"about":"Written to see that the bucket refuses a write whose condition does not hold."}';
/** The ETag of no content of it. */
const OTHER_TAG = '"00000000000000000000000000000000"';

const UNCONDITIONAL =
  'the bucket that SVC_FENCE names does not refuse a write whose condition does not hold, so two databases could both be confirmed as the latest. ' +
  'Name a bucket of storage that obeys If-None-Match and If-Match on PutObject, as Amazon S3 does, or a folder';

export const openBucket = ({ bucket: Bucket, prefix }: BucketPlace, endpoint: string | null): Bucket => {
  // The client repeats no request, since the fence makes a new round after a failed one.
  const client = openS3(endpoint);
  const deadline = () => ({ abortSignal: AbortSignal.timeout(REQUEST_DEADLINE_MS) });
  const putIf = async (key: string, text: string, tag: string | null): Promise<boolean> => {
    const condition = tag === null ? { IfNoneMatch: '*' } : { IfMatch: tag };
    try {
      await client.send(
        new PutObjectCommand({
          Bucket,
          Key: prefix + key,
          Body: text,
          ContentType: 'application/json',
          ...condition,
        }),
        deadline(),
      );
      return true;
    } catch (error) {
      if (LOST.has(statusOf(error))) return false;
      throw error;
    }
  };
  const refusesOthers = async (): Promise<boolean> => {
    try {
      // True the first time, when there was no object yet.
      const isNew = await putIf(PROBE_KEY, PROBE, null);
      if (isNew && (await putIf(PROBE_KEY, PROBE, null))) return false;
      return !(await putIf(PROBE_KEY, PROBE, OTHER_TAG));
    } catch (error) {
      if (statusOf(error) === NOT_IMPLEMENTED) return false;
      if (statusOf(error) !== FORBIDDEN) throw error;
      throw new MayNotWrite(`the credentials do not allow to write ${prefix}${PROBE_KEY} in the bucket`, {
        cause: error,
      });
    }
  };
  /** The answer, once there is one. */
  let tried: Promise<boolean> | null = null;
  const assertConditional = async (): Promise<void> => {
    tried ??= refusesOthers().catch((error: unknown) => {
      tried = null;
      throw error;
    });
    if (!(await tried)) throw new Error(UNCONDITIONAL);
  };
  return {
    atOnce: AT_ONCE,
    assertConditional,
    async find(key) {
      try {
        const { Body, ETag } = await client.send(
          new GetObjectCommand({ Bucket, Key: prefix + key }),
          deadline(),
        );
        if (Body === undefined || ETag === undefined) throw new Error(`${key} came without body or ETag`);
        return { text: await Body.transformToString('utf-8'), tag: ETag };
      } catch (error) {
        if (error instanceof NoSuchKey) return null;
        throw error;
      }
    },
    async put(key, text, tag) {
      await assertConditional();
      return putIf(key, text, tag);
    },
    async list(folder) {
      const keys: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix: `${prefix}${folder}/`, ContinuationToken }),
          deadline(),
        );
        keys.push(...(page.Contents ?? []).map(({ Key = '' }) => Key.slice(prefix.length)));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
      return keys;
    },
    close: () => client.destroy(),
  };
};

/** 0: no answer. */
const statusOf = (error: unknown): number =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;
