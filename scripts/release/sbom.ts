/** CycloneDX bills of materials for a package, or for the programs of the image, with all production dependencies. */
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { licenceOf } from './licences.ts';
import { type Installed, idOf, isOurs, listNeeded, readIntegrities } from './packages.ts';

/** The same tree always gives the same text: it contains no time and no serial number. */
export const buildSbom = (subject: Installed, roots: readonly Installed[] = [subject]): string => {
  const integrities = readIntegrities();
  const needed = listNeeded(roots);
  const components = new Map(
    [...needed.values()].map((one) => [idOf(one), componentOf(one, integrities.get(idOf(one)))]),
  );
  const main = components.get(idOf(subject)) ?? componentOf(subject, undefined);
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: main }) });
  for (const [id, component] of components) {
    for (const need of needed.get(id)?.needs ?? []) {
      const dependency = components.get(need);
      if (dependency !== undefined) component.dependencies.add(dependency.bomRef);
    }
    if (component !== main) bom.components.add(component);
  }
  if (!components.has(idOf(subject)))
    for (const root of roots) {
      const component = components.get(idOf(root));
      if (component !== undefined) main.dependencies.add(component.bomRef);
    }
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 });
};

const componentOf = (one: Installed, integrity: string | undefined): Models.Component => {
  const { name, version, description } = one.manifest;
  const [group, short] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const component = new Models.Component(
    one.folder === '' ? Enums.ComponentType.Container : Enums.ComponentType.Library,
    short ?? name,
    {
      ...(group === undefined ? {} : { group }),
      ...(description === undefined ? {} : { description }),
      bomRef: idOf(one),
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    },
  );
  component.licenses.add(new Models.LicenseExpression(licenceOf(one)));
  if (integrity !== undefined && !isOurs(one))
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(integrity, 'base64').toString('hex'));
  return component;
};
