/**
 * Objects in a bucket of S3, or of storage with its protocol and conditional writes (`If-Match`, `If-None-Match` on
 * PutObject).
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

export interface Bucket extends FenceStore {
  close(): void;
}

const AT_ONCE = 10;
/** Longer than any caller waits for an answer. A request that hangs is given up, so that it keeps no connection. */
const REQUEST_DEADLINE_MS = 10_000;

/** Another writer was first: the condition failed, or another conditional write of the object is under way. */
const LOST = new Set([409, 412]);

export const openBucket = ({ bucket: Bucket, prefix }: BucketPlace, endpoint: string | null): Bucket => {
  // The client repeats no request, since the fence makes a new round after a failed one.
  const client = openS3(endpoint);
  const deadline = () => ({ abortSignal: AbortSignal.timeout(REQUEST_DEADLINE_MS) });
  return {
    atOnce: AT_ONCE,
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
        if (error instanceof S3ServiceException && LOST.has(error.$metadata.httpStatusCode ?? 0))
          return false;
        throw error;
      }
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
