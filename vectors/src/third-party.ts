/** Test vectors published by others, as files; vectors/third-party/README.md names the source of each. */
import { readdirSync, readFileSync } from 'node:fs';

const fileAt = (path: string): URL =>
  new URL(`../third-party/${path.split('/').map(encodeURIComponent).join('/')}`, import.meta.url);

export const readThirdPartyBytes = (path: string): Uint8Array => new Uint8Array(readFileSync(fileAt(path)));
export const readThirdPartyText = (path: string): string => readFileSync(fileAt(path), 'utf8');
export const readThirdPartyJson = <T>(path: string): T => JSON.parse(readThirdPartyText(path)) as T;

/** The files below a folder that end in `extension`, as paths for the functions above. */
export const listThirdParty = (folder: string, extension: string): string[] =>
  readdirSync(fileAt(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();
