import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Storage that is not Amazon's takes any region in a signature; Amazon's has taken it for this one where none was named. */
const DEFAULT_REGION = 'us-east-1';

/**
 * A client of S3, or of whatever speaks its protocol at `endpoint` (null: Amazon's, by region). Credentials and region come from
 * where the SDK always looks for them, at an endpoint the region from AWS_REGION alone; where none is named it is us-east-1. A
 * request is sent once: who asks decides on another attempt.
 */
export const openS3 = (endpoint: string | null, options: S3ClientConfig = {}): S3Client => {
  // Set to nothing, as compose files do, it is not set; the SDK would take it for a region, and look no further.
  if (process.env.AWS_REGION === '') delete process.env.AWS_REGION;
  const { AWS_REGION: region = DEFAULT_REGION } = process.env;
  return new S3Client({
    maxAttempts: 1,
    // Storage that is not Amazon's may refuse the CRC32 that the SDK sends by itself, or answer without one.
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    ...(endpoint === null ? { region: regionFinder() } : { endpoint, region, forcePathStyle: true }),
    ...options,
  });
};

/** The SDK reads its files once, and says by an error that they name none. */
const regionFinder = (): (() => Promise<string>) => {
  let found: Promise<string> | null = null;
  const find = async () => {
    const client = new S3Client({});
    try {
      return await client.config.region();
    } catch {
      return DEFAULT_REGION;
    } finally {
      client.destroy();
    }
  };
  return () => {
    found ??= find();
    return found;
  };
};
