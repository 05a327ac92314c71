/** The licences of the production dependencies. A person must read a new licence before it is added here. */
import { type Installed, idOf, isOurs } from './packages.ts';

/** SPDX expressions, as packages state them. These licences only demand that their text is included in copies. */
const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Python-2.0',
  '(MPL-2.0 OR Apache-2.0)',
  'Apache-2.0 OR MIT',
]);

/** Licences that the manifest does not state, or not in SPDX, as read in the package's own LICENSE. */
const READ_BY_HAND: ReadonlyMap<string, string> = new Map([
  ['decko@1.2.0', 'MIT'],
  ['stickyfill@1.1.1', 'MIT'],
  ['url-template@2.0.8', 'BSD-3-Clause'],
]);

export interface LicenceList {
  /** By licence: `name@version` of each package with that licence. */
  readonly byLicence: ReadonlyMap<string, readonly string[]>;
  /** Packages with another licence, or none. */
  readonly refused: readonly string[];
}

export const licenceOf = (one: Installed): string => {
  const { license } = one.manifest;
  const stated = typeof license === 'string' && license !== '' ? license : 'none stated';
  return READ_BY_HAND.get(idOf(one)) ?? stated;
};

export const listLicences = (needed: Iterable<Installed>): LicenceList => {
  const byLicence = new Map<string, string[]>();
  for (const one of [...needed].filter((each) => !isOurs(each))) {
    const licence = licenceOf(one);
    byLicence.set(licence, [...(byLicence.get(licence) ?? []), idOf(one)].sort());
  }
  const refused = [...byLicence]
    .filter(([licence]) => !ALLOWED_LICENCES.has(licence))
    .flatMap(([licence, ids]) => ids.map((id) => `${id}: ${licence}`));
  return { byLicence: new Map([...byLicence].sort(([one], [other]) => (one < other ? -1 : 1))), refused };
};
