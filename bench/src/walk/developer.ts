/** The developer's part: the service, the packages, an own shop, a Grant, an order. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Running, Steps } from './steps.ts';

export interface Place {
  readonly folder: string;
  /** Folder of the repository. */
  readonly clone: string;
  /** The folder into which `npm run pack` writes. */
  readonly packages: string;
  readonly ports: readonly number[];
}

export interface World {
  readonly service: Running;
  readonly baseUrl: string;
  readonly serviceDid: string;
  readonly relyingPartyKey: string;
  /** The body of a verification that has not been sent yet. */
  readonly bodyPath: string;
}

const PATH = 'developer';

export const walkAsDeveloper = async (steps: Steps, place: Place): Promise<World> => {
  const { folder, clone, packages, ports } = place;
  const [port, adminPort, shopPort] = ports;
  const env = { SVC_PORT: `${port}`, SVC_ADMIN_PORT: `${adminPort}` };
  const start = () => steps.start('npm start', clone, 'Ctrl-C stops everything', env);
  const first = await steps.time(PATH, 'npm start, from a clone with empty caches', start);
  await first.stop();
  const service = await steps.time(PATH, 'npm start again', start);
  const told = (pattern: RegExp) => pattern.exec(service.output)?.[1] ?? '';
  const baseUrl = told(/Start here +(\S+)\//);
  const adminToken = told(/Admin token +(\S+)/);
  const serviceDid = told(/Service DID +(\S+)/);

  await steps.time(PATH, 'npm run pack', () => steps.run('npm run pack', clone));
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  await steps.time(PATH, 'npm install of both SDKs in an empty folder, offline', () =>
    steps.run(
      `npm install --offline ${packages}/svc-sdk-rp-*.tgz ${packages}/svc-sdk-principal-*.tgz`,
      empty,
    ),
  );
  steps.run(
    `node -e "console.log(require('@svc/sdk-rp').SvcError === require('@svc/sdk-principal').SvcError)"`,
    empty,
    { expected: 'true' },
  );

  const shop = join(folder, 'my-shop');
  await steps.time(PATH, 'create-svc-shop and npm install', () => {
    steps.run(`node packages/create-svc-shop/dist/create-svc-shop.js ${shop} --packages ${packages}`, clone);
    steps.run('npm install', shop);
  });
  await steps.time(PATH, 'npm test of the shop', () => steps.run('npm test', shop, { expected: 'fail 0' }));
  await steps.time(PATH, 'shop and Principal registered, npm run grant', () => {
    const admin = (words: string) => {
      const output = steps.run(`npm run --silent svc-admin -- ${words} --api ${baseUrl}`, clone, {
        env: { SVC_ADMIN_TOKEN: adminToken },
      });
      return JSON.parse(output) as { readonly did: string; readonly api_key: string };
    };
    const rp = admin('relying-party create --slug my-shop');
    const file = join(shop, '.env');
    writeFileSync(file, readFileSync(join(shop, 'env.example')));
    fillIn(file, {
      ...{ SVC_URL: baseUrl, SVC_DID: serviceDid, SHOP_DID: rp.did, SVC_RP_KEY: rp.api_key },
      ...{ SHOP_ORIGIN: `http://localhost:${shopPort}`, PORT: `${shopPort}` },
    });
    const told = steps.run('npm run grant 50000', shop, { code: 1 });
    const key = /--key (z6Mk\w+)/.exec(told)?.[1];
    const principal = admin(`principal create --slug my-shop-owner --key ${key}`);
    fillIn(file, { PRINCIPAL_DID: principal.did, SVC_PRINCIPAL_KEY: principal.api_key });
    steps.run('npm run grant 50000', shop, { expected: '500.00 USD' });
  });
  const running = await steps.time(PATH, 'npm start of the shop, npm run buy', async () => {
    const started = await steps.start('npm start', shop, 'the shop is at');
    steps.run('npm run buy lamp 50000', shop, { expected: '201' });
    return started;
  });
  await running.stop();
  return {
    ...{ service, baseUrl, serviceDid },
    relyingPartyKey: told(/Bearer (\S+)'/),
    bodyPath: told(/--data '?@([^'\s]+)/),
  };
};

/** Changes the file as a reader would who types the values into it. */
const fillIn = (file: string, values: Readonly<Record<string, string>>): void => {
  let text = readFileSync(file, 'utf8');
  for (const [name, value] of Object.entries(values))
    text = text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`);
  writeFileSync(file, text);
};
