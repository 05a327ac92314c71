/** Stryker plugins. */
import { relative } from 'node:path';

/** Texts for people are not mutated. Codes, names and encodings contain no space, and are mutated. */
const isSentence = (path) =>
  (path.isStringLiteral() && path.node.value.includes(' ')) ||
  (path.isTemplateLiteral() && path.node.quasis.some(({ value }) => value.raw.includes(' ')));

const shouldIgnore = (path) => (isSentence(path) ? 'a text for people' : undefined);

/** Reports each survivor at once; Stryker's own reporters do so at the end. */
class SurvivorReporter {
  onMutantTested({ status, fileName, location, replacement }) {
    if (status === 'Survived' || status === 'NoCoverage')
      console.log(`  lived: ${relative('', fileName)}:${location.start.line}  →  ${replacement}`);
  }
}

export const strykerPlugins = [
  { kind: 'Ignore', name: 'sentences', value: { shouldIgnore } },
  { kind: 'Reporter', name: 'survivors', injectableClass: SurvivorReporter },
];
