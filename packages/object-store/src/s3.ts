import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Other storage than Amazon's accepts any region in a signature; Amazon's accepts this one where none was named. */
const DEFAULT_REGION = 'us-east-1';

/**
 * A client of S3, or of storage with its protocol at `endpoint` (null: Amazon's, by region). Credentials come from the
 * SDK's usual sources. So does the region if there is no endpoint; with an endpoint, only AWS_REGION names it. If no
 * region is named, it is us-east-1. A request is sent once: the caller decides whether to repeat it.
 */
export const openS3 = (endpoint: string | null, options: S3ClientConfig = {}): S3Client => {
  // Compose files set the variable to an empty text. It must count as unset, since the SDK would take it for a region.
  if (process.env.AWS_REGION === '') delete process.env.AWS_REGION;
  const { AWS_REGION: region = DEFAULT_REGION } = process.env;
  return new S3Client({
    maxAttempts: 1,
    // Other storage than Amazon's may refuse the CRC32 that the SDK sends by default, or answer without one.
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    ...(endpoint === null ? { region: regionFinder() } : { endpoint, region, forcePathStyle: true }),
    ...options,
  });
};

/** The SDK reads its files once, and throws if they name no region. */
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
