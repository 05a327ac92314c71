/**
 * Secrets from files: `NAME_FILE` in place of `NAME`, as container platforms mount them. The file contains the value,
 * optionally followed by a line end.
 */
import { fileVariable, SECRET_NAMES } from './env.ts';
import { readSecretFile, shownPath } from './key-files.ts';
import type { Environment } from './parse-config.ts';

/** Many times the longest value of any of the variables. */
const MAX_BYTES = 65_536;

export interface ReadSecretFiles {
  /** The environment with the content of each file under the name of its secret, and without the names of the files. */
  readonly env: Environment;
  /** No fault contains any content of a file, nor a secret that is in the variable itself. */
  readonly faults: readonly string[];
}

/** Reads the files for those `names` that are given as files. Files of other variables are not opened. */
export const readSecretFiles = (
  given: Environment,
  names: readonly string[] = SECRET_NAMES,
): ReadSecretFiles => {
  const env = { ...given };
  const faults: string[] = [];
  for (const name of names) {
    const variable = fileVariable(name);
    const path = env[variable] ?? '';
    delete env[variable];
    if (path === '') continue;
    if ((env[name] ?? '') !== '') {
      faults.push(`${name} and ${variable} are both set: set one of them`);
      continue;
    }
    const read = readValue(path);
    if (read.ok) env[name] = read.value;
    else faults.push(`${variable} ${shownPath(path)} ${read.problem}`);
  }
  return { env, faults };
};

type Read = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly problem: string };

const readValue = (path: string): Read => {
  try {
    const { text, exposure } = readSecretFile(path, MAX_BYTES);
    if (exposure !== null) return { ok: false, problem: `cannot be used: ${exposure}` };
    const value = text.replace(/\r?\n$/, '');
    if (value === '') return { ok: false, problem: 'is empty' };
    return { ok: true, value };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, problem: `cannot be read (${code ?? (error as Error).message})` };
  }
};
