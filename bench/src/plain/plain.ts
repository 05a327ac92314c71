/**
 * The plain build of the same service: Express, jose, canonicalize and a knex transaction, used as their manuals show.
 */
import express from 'express';
import { type CryptoKey, generateKeyPair } from 'jose';
import knex from 'knex';
import { endWithParent, readProgramEnvironment } from '../fixtures/program-environment.ts';
import { type Caller, decide, type VerifyRequest } from './decide.ts';
import { createTables, insertWorld, sha256Hex } from './tables.ts';

const { port, databaseUrl, world } = readProgramEnvironment();
endWithParent();

const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 2, max: 10 } });
await createTables(db);
await insertWorld(db, world);
const { privateKey } = await generateKeyPair('EdDSA');
const signing: { readonly world: typeof world; readonly signingKey: CryptoKey } = {
  world,
  signingKey: privateKey,
};

const app = express();
app.use(express.json({ limit: '64kb' }));

app.post('/verify', async (request, response) => {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const caller = await db('api_keys')
    .join('relying_parties', 'relying_parties.did', 'api_keys.relying_party')
    .where({ key_hash: sha256Hex(token), revoked_at: null })
    .first<Caller | undefined>();
  if (caller === undefined) {
    response.status(401).json({ error: 'UNAUTHORIZED', message: 'Unknown API key.' });
    return;
  }
  const receipt = await db.transaction((trx) => decide(trx, caller, request.body as VerifyRequest, signing));
  response.json(receipt);
});

app.use(((problem: Error, _request, response, _next) => {
  response.status(400).json({ error: 'INVALID_REQUEST', message: problem.message });
}) satisfies express.ErrorRequestHandler);

app.listen(port, '127.0.0.1');
