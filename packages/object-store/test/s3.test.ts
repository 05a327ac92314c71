import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openS3 } from '../src/s3.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-aws-'));
  file = join(folder, 'config');
  writeFileSync(file, '[default]\nregion = eu-central-1\n');
  vi.stubEnv('AWS_CONFIG_FILE', file);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const regionAt = async (endpoint: string | null): Promise<string> => {
  const client = openS3(endpoint);
  const region = await client.config.region();
  client.destroy();
  return region;
};

describe.each([
  ['not set', undefined],
  ['empty', ''],
] as const)('with AWS_REGION %s', (_, value) => {
  beforeEach(() => vi.stubEnv('AWS_REGION', value));

  it('the region for Amazon S3 is that of the shared configuration file', async () => {
    expect(await regionAt(null)).toBe('eu-central-1');
  });

  it('the region for Amazon S3 is us-east-1 if the file names none', async () => {
    writeFileSync(file, '');
    expect(await regionAt(null)).toBe('us-east-1');
  });

  it('the region for another S3 server is us-east-1', async () => {
    expect(await regionAt('http://127.0.0.1:9000')).toBe('us-east-1');
  });
});

it('AWS_REGION takes precedence for both', async () => {
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  expect([await regionAt(null), await regionAt('http://127.0.0.1:9000')]).toEqual(['eu-west-1', 'eu-west-1']);
});
