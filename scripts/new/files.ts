/** Writes files of the repository, by path relative to its root. Never overwrites a file. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

export const listFolder = (folder: string): readonly string[] => readdirSync(pathOf(folder)).sort();

export const readFile = (file: string): string => readFileSync(pathOf(file), 'utf8');

/** Throws if the file already exists. */
export const createFile = (file: string, text: string): void => {
  mkdirSync(dirname(pathOf(file)), { recursive: true });
  writeFileSync(pathOf(file), text, { flag: 'wx' });
};

/** An edit of one file: inserts `text` where `place` ends. */
export interface Insertion {
  readonly file: string;
  readonly place: RegExp;
  readonly text: string;
  /** Skipped if the file contains this. */
  readonly unless?: string;
}

/**
 * Makes all insertions or none. Throws if a file is missing, has another structure, or already contains one of the
 * texts.
 */
export const insertAll = (insertions: readonly Insertion[]): void => {
  const texts = new Map<string, string>();
  for (const { file, place, text, unless } of insertions) {
    const before = texts.get(file) ?? readFile(file);
    if (unless !== undefined && before.includes(unless)) continue;
    const found = place.exec(before);
    if (found === null) throw new Error(`${file}: has not the shape that ${place} finds; edit it by hand`);
    if (before.includes(text)) throw new Error(`${file}: has this already`);
    const end = found.index + found[0].length;
    texts.set(file, before.slice(0, end) + text + before.slice(end));
  }
  for (const [file, text] of texts) writeFileSync(pathOf(file), text);
};

/** Throws with `what` unless `name` matches the form. */
export const requireForm = (name: string, form: RegExp, what: string): RegExpExecArray => {
  const found = form.exec(name);
  if (found === null) throw new Error(`${name}: must be ${what}`);
  return found;
};
