/** `npm run buy ITEM CENTS`: the Agent, with the key and the Grant of `.env`. */
import { agentFromJwk } from '@svc/sdk-principal/agent';
import { buy } from './agent.ts';

const { AGENT_KEY = '', GRANT = '', SHOP_DID = '', SHOP_ORIGIN = '' } = process.env;
const [item = 'book', cents = '5000'] = process.argv.slice(2);

if (AGENT_KEY === '' || GRANT === '') {
  console.error('The Agent has no Grant yet: npm run grant makes one.');
  process.exit(1);
}
const shop = { did: SHOP_DID, origin: SHOP_ORIGIN };
const agent = agentFromJwk(JSON.parse(AGENT_KEY));
try {
  const answer = await buy({ agent, grant: GRANT, shop }, item, Number(cents));
  console.log(answer.status, await answer.json());
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
