/** The texts that `create-svc-shop` prints. */

export const USAGE = 'Usage: npm create svc-shop FOLDER [-- --packages FOLDER]';

export const HELP = `${USAGE}

Writes an Express shop, an Agent that buys there and a test of both into a new folder.

  --packages FOLDER  takes our packages from this folder, into which npm run pack writes them in a clone of the
                     repository (.data/packages): needed until they are on a registry`;

const ON_NO_REGISTRY = `
Until our packages are on a registry, npm install does not find them. Make the project with --packages FOLDER then: the
folder of a clone of the repository into which npm run pack writes them.
`;

/** Describes the new project in `folder` and the next steps. `isPacked`: our packages are used as files. */
export const describeShop = (folder: string, isPacked: boolean): string =>
  `${folder} has a shop (shop.ts), an Agent (agent.ts) and a test of both (shop.test.ts).

  cd ${quote(folder)}
  npm install
  npm test          # without a network: the service is in memory
${isPacked ? '' : ON_NO_REGISTRY}
README.md says how to run it against a service.`;

/** Quotes a word for a POSIX shell. */
const quote = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
