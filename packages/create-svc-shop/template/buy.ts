/** `npm run buy ITEM CENTS`: the Agent, with the key and the Grant of `.env`. */
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { buy } from './agent.ts';

const { AGENT_KEY = '', GRANT = '', SHOP_DID = '', SHOP_ORIGIN = '' } = process.env;
const [item = 'book', cents = '5000'] = process.argv.slice(2);

if (AGENT_KEY === '') {
  const { did, privateJwk } = await generateAgentKey();
  console.log(`Put this into .env, and nowhere else:\nAGENT_KEY='${JSON.stringify(privateJwk)}'\n`);
  console.log(`A Principal issues a Grant to ${did}, which goes there as GRANT.`);
} else {
  const shop = { did: SHOP_DID, origin: SHOP_ORIGIN };
  const agent = agentFromJwk(JSON.parse(AGENT_KEY));
  const answer = await buy({ agent, grant: GRANT, shop }, item, Number(cents)).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
  console.log(answer.status, await answer.json());
}
