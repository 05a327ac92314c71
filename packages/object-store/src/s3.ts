import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/**
 * A client of S3, or of whatever speaks its protocol at `endpoint` (null: Amazon's, by region). Credentials and region come from
 * where the SDK always looks for them. A request is sent once: who asks decides on another attempt.
 */
export const openS3 = (endpoint: string | null, options: S3ClientConfig = {}): S3Client =>
  new S3Client({
    maxAttempts: 1,
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    // Set to nothing, as compose files do, it is not set; the SDK would take it for a region.
    ...((process.env.AWS_REGION ?? '') === '' ? { region: 'us-east-1' } : {}),
    ...options,
  });
