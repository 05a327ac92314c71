/** The vector files beside a program, copied there by its build (tsup.config.ts of the app). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MANIFEST_PATH, type VectorSet } from '@svc/conformance';
import { readVectorSet } from '@svc/conformance/node';
import { isSha256 } from '@svc/protocol';
import type { VectorSetName } from '@svc/service';

/** The set's identity from the manifest in `folder`. Throws if there is none. */
export const readVectorSetName = (folder: URL): VectorSetName => {
  const text = readFileSync(new URL(MANIFEST_PATH, folder), 'utf8');
  const manifest: Partial<Record<string, unknown>> = JSON.parse(text);
  const { sha256, conformance_version: conformanceVersion } = manifest;
  if (!isSha256(sha256) || typeof conformanceVersion !== 'string')
    throw new Error(`${fileURLToPath(folder)} holds no vectors`);
  return { sha256, conformanceVersion };
};

/** Every file is checked against the manifest. Throws `VectorSetError`. */
export const readVectorsBeside = (folder: URL): VectorSet => readVectorSet(fileURLToPath(folder));
