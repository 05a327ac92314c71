/** The version of the release: all programs and packages have the same one (scripts/release/set-version.ts). */
import packageJson from '../package.json' with { type: 'json' };

export const programVersion: string = packageJson.version;
