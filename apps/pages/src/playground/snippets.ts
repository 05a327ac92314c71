/** A run as code to paste: each snippet repeats it with a new Grant and Proof. */
import { quoteForShell } from '../shared/quote-for-shell.ts';
import { OTHER_SHOP, type Run } from './scenarios.ts';

const JSON_HEADER = "-H 'Content-Type: application/json'";

/** For a POSIX shell with curl and jq. `base` ends with a slash. */
export const asCurl = (run: Run, base: string): string => {
  const post = (path: string, data: string) =>
    `curl -sS ${quoteForShell(`${base}${path}`)} ${JSON_HEADER} ${data}`;
  const verify = post('demo/verify', '--data @-');
  const mint = `minted=$(${post('demo/mint', `--data ${quoteForShell(JSON.stringify({ amount: run.mintAmount }))}`)})`;
  const ask = (body: string) => `echo "$minted" | jq ${quoteForShell(body)} | ${verify}`;
  switch (run.scenario) {
    case 'audience':
      // Readdressing would take a JSON editor inside base64url, so the snippet has the request that was sent.
      return `${post('demo/verify', `--data ${quoteForShell(JSON.stringify(run.request))}`)}\n`;
    case 'action':
      return `${mint}\n${ask(`{grant, proof, action: (.action + {amount: ${run.request.action.amount}})}`)}\n`;
    case 'replay':
      return `${mint}\n${ask(HONEST)}\n${ask(HONEST)}\n`;
    case 'revoke':
      return `${mint}\necho "$minted" | jq '{grant_id}' | ${post('demo/revoke', '--data @-')}\n${ask(HONEST)}\n`;
    default:
      return `${mint}\n${ask(HONEST)}\n`;
  }
};

const HONEST = '{grant, proof, action}';

/** For Node and any other runtime with `fetch`; also checks the Receipt. */
export const asTypeScript = (
  run: Run,
  base: string,
): string => `import { verifyReceipt } from '@svc/receipts';

const base = '${base}';
const post = async (path: string, body: unknown) => {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};

const { grant, proof, action, grant_id } = await post('demo/mint', { amount: ${run.mintAmount} });
${cheatLines(run)}const receipt = await post('demo/verify', ${bodyOf(run)});

const didDocument = await (await fetch(\`\${base}.well-known/did.json\`)).json();
console.log(receipt.decision, receipt.reason, verifyReceipt(receipt, didDocument).ok);
`;

const bodyOf = ({ scenario }: Run): string => {
  if (scenario === 'audience') return '{ grant, proof: readdressed, action }';
  return scenario === 'action' ? '{ grant, proof, action: changed }' : '{ grant, proof, action }';
};

const cheatLines = ({ scenario, request }: Run): string => {
  switch (scenario) {
    case 'audience':
      return `const [header, payload, signature] = proof.split('.');
const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
const edited = Buffer.from(JSON.stringify({ ...claims, aud: '${OTHER_SHOP}' })).toString('base64url');
const readdressed = [header, edited, signature].join('.');
`;
    case 'action':
      return `const changed = { ...action, amount: ${request.action.amount} };\n`;
    case 'replay':
      return "await post('demo/verify', { grant, proof, action });\n";
    case 'revoke':
      return "await post('demo/revoke', { grant_id });\n";
    default:
      return '';
  }
};
