/** A plugin of Stryker: texts for people are not mutated. Codes, names and encodings have no space in them, and are. */
const isSentence = (path) =>
  (path.isStringLiteral() && path.node.value.includes(' ')) ||
  (path.isTemplateLiteral() && path.node.quasis.some(({ value }) => value.raw.includes(' ')));

const shouldIgnore = (path) => (isSentence(path) ? 'a text for people' : undefined);

export const strykerPlugins = [{ kind: 'Ignore', name: 'sentences', value: { shouldIgnore } }];
