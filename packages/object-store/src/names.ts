/**
 * Names of objects: `<folder>/<SHA-256>.<extension>`. No name leads out of a folder, and each has only one spelling.
 */
import { createHash } from 'node:crypto';
import { type ObjectName, ObjectStoreError } from '@svc/service';

const FOLDER = /^[a-z0-9][a-z0-9-]{0,63}(?:\/[a-z0-9][a-z0-9-]{0,63}){0,5}$/;
const FILE = /^([0-9a-f]{64})\.[a-z0-9]{1,16}$/;

export const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The name under which these bytes are stored in a folder. */
export const objectName = (folder: string, bytes: Uint8Array, extension: string): ObjectName => {
  const name = `${folder}/${sha256Hex(bytes)}.${extension}`;
  assertHashOf(name);
  return name;
};

export const isObjectName = (name: string): boolean => hashOf(name) !== null;

export const isFolder = (folder: string): boolean => FOLDER.test(folder);

/** The hash that the bytes under a name must have. */
export const assertHashOf = (name: ObjectName): string => {
  const hash = hashOf(name);
  if (hash === null)
    throw new ObjectStoreError('refused', `not the name of an object: ${JSON.stringify(name)}`);
  return hash;
};

const hashOf = (name: string): string | null => {
  const slash = name.lastIndexOf('/');
  return isFolder(name.slice(0, slash)) ? (FILE.exec(name.slice(slash + 1))?.[1] ?? null) : null;
};
