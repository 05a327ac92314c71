import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Storage that is not Amazon's takes any region in a signature, and the SDK signs for none without. */
const REGION_ELSEWHERE = 'us-east-1';

/**
 * A client of S3, or of whatever speaks its protocol at `endpoint` (null: Amazon's, by region). Credentials and region come from
 * where the SDK always looks for them; at an endpoint the region is AWS_REGION, us-east-1 unless that is set. A request is sent
 * once: who asks decides on another attempt.
 */
export const openS3 = (endpoint: string | null, options: S3ClientConfig = {}): S3Client => {
  // Set to nothing, as compose files do, it is not set; the SDK would take it for a region, and look no further.
  if (process.env.AWS_REGION === '') delete process.env.AWS_REGION;
  const region = process.env.AWS_REGION ?? REGION_ELSEWHERE;
  return new S3Client({
    maxAttempts: 1,
    ...(endpoint === null ? {} : { endpoint, region, forcePathStyle: true }),
    ...options,
  });
};
