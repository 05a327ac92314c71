import { createVerifier } from '@svc/sdk-rp';

const { SVC_URL = '', SVC_DID = '', SHOP_DID = '' } = process.env;
export const verifier = createVerifier({
  baseUrl: SVC_URL, // https://svc.example
  serviceDid: SVC_DID, // whose Receipts you believe: the id in SVC_URL/.well-known/did.json, held against what its operator says
  relyingParty: SHOP_DID, // you, as Agents name you in their Proofs; the key of it is read from SVC_RP_KEY
});
await verifier.ready(); // before you listen: rejects with what to change where the address, a DID or the key is wrong
