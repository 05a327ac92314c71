// The engine behind svc-conformance-http v1 (docs/conformance.md): `node examples/independent-engine/server.mjs [port]`.
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { evaluate, profileNames } from './evaluate.mjs';
import { canonical, sha256 } from './json.mjs';
import { isJti } from './tokens.mjs';
import { normalizeHtu } from './urls.mjs';

const contract = 'svc-conformance-http v1';
const maxBytes = 1_048_576;
const maxCases = 1000;

// vectors/keys.json publishes this key, so a signature proves only that the bytes are right.
const seed = createHash('sha256').update('svc test vector key, not a secret: service receipt 1').digest();
const receiptKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
});
const receiptHeader = { alg: 'EdDSA', kid: 'did:web:svc.example#receipt-1', typ: 'svc-receipt+jwt' };
const encode = (bytes) => Buffer.from(bytes).toString('base64url');

function signedReceipt(body) {
  const signed = `${encode(canonical(receiptHeader))}.${encode(canonical(body))}`;
  return `${signed}.${encode(sign(null, Buffer.from(signed), receiptKey))}`;
}

const text = (input) => {
  if (typeof input !== 'string') throw new TypeError('the input must be a string');
  return input;
};

function canonicalOrNull(json) {
  const value = JSON.parse(json);
  try {
    return canonical(value);
  } catch {
    return null;
  }
}

const ops = {
  evaluate(input) {
    const body = evaluate(input);
    return { body, receipt: signedReceipt(body) };
  },
  normalizeHtu: (input) => normalizeHtu(text(input)),
  canonicalize: (input) => canonicalOrNull(text(input)),
  sha256: (input) => sha256(text(input)),
  isJti: (input) => isJti(text(input)),
};

const description = {
  implementation: { name: 'independent-engine', version: '1.0.0' },
  ops: ['describe', ...Object.keys(ops)],
  profiles: profileNames,
  receipts: true,
  max_request_bytes: maxBytes,
  max_cases: maxCases,
};

/** Status and body of the answer to the text of a request. */
export function answer(requestText) {
  const refuse = (error) => [400, { contract, error }];
  let request;
  try {
    request = JSON.parse(requestText);
  } catch {
    return refuse('the request must be JSON');
  }
  const { op, cases } = request ?? {};
  if (request?.contract !== contract) return refuse(`contract must be "${contract}"`);
  if (op === 'describe') return [200, { contract, op, ...description }];
  if (!Object.hasOwn(ops, op)) return refuse('there is no such op');
  if (!Array.isArray(cases) || cases.length > maxCases)
    return refuse(`cases: an array of at most ${maxCases}`);
  const results = cases.map(({ id, input }) => {
    try {
      return { id, result: ops[op](input) };
    } catch (fault) {
      return { id, error: fault.message };
    }
  });
  return [200, { contract, op, results }];
}

/** Listens on localhost; resolves with the server. */
export function serve(port) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    let length = 0;
    try {
      for await (const chunk of request) {
        length += chunk.length;
        if (length > maxBytes) return response.destroy();
        chunks.push(chunk);
      }
    } catch {
      return response.destroy();
    }
    const [status, body] =
      request.method === 'POST' ? answer(Buffer.concat(chunks).toString()) : [405, { contract }];
    return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const server = await serve(Number(process.argv[2] ?? 8091));
  console.log(`${contract} at http://127.0.0.1:${server.address().port}/`);
}
