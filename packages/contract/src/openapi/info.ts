/**
 * The introduction of the API reference: what the service is, the first calls, the answers that all operations share.
 */
import { ERROR_CODES, ERROR_MEANING, ERROR_STATUS } from '../error-codes.ts';

const OVERVIEW = `
Did a Principal really allow this Agent this one action? \`POST /verify\` answers this question with a signed Receipt,
which anybody can check offline.

Send credentials as \`Authorization: Bearer <key>\`. Times are RFC 3339 in UTC; amounts are integers in minor units.
The service refuses unknown members and query parameters. Every answer has a \`Svc-Request-Id\`. If you send an
\`X-Request-ID\` of up to 1,024 printable characters, the service uses it as this id.
`;

const GETTING_STARTED = `
# Getting started

The operator has the admin token. \`npm start\` prints that of a development service; in production it is
\`SVC_ADMIN_TOKEN\` (\`docs/protocol.md\`, “14. Configuration”). Register the parties with it; they do the rest with
their own keys:

1. \`POST /principals\` with the admin token: registers the party that gives authority. The Principal key is only in
   this answer.
2. \`POST /relying-parties\` with the admin token: registers the party that asks. The RP key is only in this answer.
3. \`POST /grants\` with the Principal key: reserves a Grant. Put its \`id\` and \`credentialStatus\` into the Grant, sign
   it with the Principal's signing key and give it to the Agent (“2. Grant”).
4. The Agent signs a Proof for each request and sends Grant and Proof as \`Svc-Grant\` and \`Svc-Proof\` (“3. Proof”).
5. \`POST /verify\` with the RP key, the two headers and the Action (“5. Action”). Act only on \`ALLOW\`. “7. The checks”
   says what each check means.
6. Check the Receipt with the keys of \`GET /.well-known/did.json\` (“8. Receipt”): \`verifyReceipt\` of \`@svc/receipts\`,
   or \`svc-receipt verify\` on the command line.
7. \`POST /revoke\` with the Principal key revokes the Grant (“9. Status lists and revocation”).

A DID in a path is percent-encoded: a \`%\` inside it is sent as \`%25\`. For example, \`did:web:localhost%3A8080:rp:shop\` becomes
\`did:web:localhost%253A8080:rp:shop\`.
`;

const LIMITS = `
# Limits

| What | Limit |
|---|---|
| body of a request | 65,536 bytes; 262,144 for \`POST /access/v1/evaluations\`; strict JSON without \`Content-Encoding\` |
| \`POST /verify\` | \`verify_rate_limit_per_minute\` of the relying party for each key, 600 by default |
| other calls with a credential | 120 a minute for each key |
| calls without a credential | 300 a minute for each address |
| failed authentications | 20 a minute for each address |
| age of a Proof | \`proof_window_seconds\` of the relying party, 1 to 300, 60 by default |
| \`Idempotency-Key\` | 1 to 64 characters, remembered for ten minutes |
| lists | \`limit\` 1 to 200, 50 by default |
| \`GET /decisions/export\` | \`limit\` 1 to 5,000, 5,000 by default |

Each node counts rates by minutes of the clock. “13. HTTP” has the details.
`;

const ERRORS = `
# Errors

The body is \`{error, message}\`; switch on \`error\`. A DENY is not an error. In addition to the errors that an
operation lists, every path answers 405 to a method that it does not have.

| Status | \`error\` | Meaning |
|---|---|---|
${ERROR_CODES.map((code) => `| ${ERROR_STATUS[code]} | \`${code}\` | ${ERROR_MEANING[code]} |`).join('\n')}
`;

export const INFO = {
  title: 'Delegated-authority verification',
  version: '0.2',
  description: [OVERVIEW, GETTING_STARTED, LIMITS, ERRORS].map((part) => part.trim()).join('\n\n'),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};
