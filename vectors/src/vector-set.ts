/**
 * All of vectors/ except its README and its schemas, as texts by path. A pure function of the source: no clock, no
 * randomness, keys derived from labels.
 */
import { createHash } from 'node:crypto';
import { buildEvaluateVectors } from './evaluate-vectors.ts';
import { htuFile } from './htu-cases.ts';
import { jcsFile } from './jcs-cases.ts';
import { jtiFile } from './jti-cases.ts';
import { merkleFile } from './merkle-cases.ts';
import { statusListFile } from './status-list-cases.ts';
import { keysFile } from './test-keys.ts';

/** Increased with every change of the set: see vectors/README.md. */
const CONFORMANCE_VERSION = '2.3.0';

const MANIFEST = 'manifest.json';

export const SET_HASH_RULE =
  'SHA-256 over one line per file, "<hex SHA-256 of the file>  <path>\\n", sorted by path in byte order';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const sha256Hex = (data: string): string => createHash('sha256').update(data).digest('hex');

/** `schemas`: the files of vectors/schema, by path; they are part of the set that the manifest pins. */
export const buildVectorSet = async (
  schemas: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> => {
  const files = new Map<string, string>();
  for (const vector of await buildEvaluateVectors()) files.set(`evaluate/${vector.id}.json`, json(vector));
  files.set('htu.json', json(htuFile()));
  files.set('jcs.json', json(jcsFile()));
  files.set('jti.json', json(jtiFile()));
  files.set('keys.json', json(keysFile()));
  files.set('merkle.json', json(merkleFile()));
  files.set('status-list.json', json(statusListFile()));
  files.set(MANIFEST, json(buildManifest(new Map([...files, ...schemas]))));
  return files;
};

const buildManifest = (files: ReadonlyMap<string, string>) => {
  const hashed = [...files]
    .map(([path, text]) => ({ path, hex: sha256Hex(text) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    conformance_version: CONFORMANCE_VERSION,
    keys: 'keys.json',
    sha256_rule: SET_HASH_RULE,
    sha256: `sha256:${sha256Hex(hashed.map(({ hex, path }) => `${hex}  ${path}\n`).join(''))}`,
    files: hashed.map(({ path, hex }) => ({ path, sha256: `sha256:${hex}` })),
  };
};
