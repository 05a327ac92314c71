/** `npm start`: the shop, against the service of `.env`. */
import { createVerifier } from '@svc/sdk-rp';
import { keepEnvPrivate } from './env.ts';
import { createShop } from './shop.ts';

const { SVC_URL = '', SVC_DID = '', SHOP_DID = '', SHOP_ORIGIN = '', PORT = '4000' } = process.env;
try {
  keepEnvPrivate();
} catch (error) {
  // For example, the deployment sets the mode of a mounted secret.
  console.error(`others may read .env: ${(error as Error).message}`);
}
// The API key comes from SVC_RP_KEY.
const verifier = createVerifier({ baseUrl: SVC_URL, serviceDid: SVC_DID, relyingParty: SHOP_DID });
await verifier.ready().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
createShop(verifier, SHOP_ORIGIN).listen(Number(PORT), () => console.log(`the shop is at ${SHOP_ORIGIN}`));
