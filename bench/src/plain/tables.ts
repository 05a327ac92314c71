/** Creates the tables of the plain build and inserts the world into them. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { World } from '../fixtures/world.ts';

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

export async function createTables(db: Knex): Promise<void> {
  await db.schema
    .createTable('relying_parties', (table) => {
      table.text('did').primary();
      table.integer('proof_window_seconds').notNullable();
    })
    .createTable('api_keys', (table) => {
      table.text('key_hash').primary();
      table.text('key_id').notNullable();
      table.text('relying_party').notNullable().references('relying_parties.did');
      table.timestamp('revoked_at');
    })
    .createTable('evidence', (table) => {
      table.text('hash').primary();
      table.text('body').notNullable();
    })
    .createTable('principals', (table) => {
      table.text('did').primary();
      table.text('verification_state').notNullable();
      table.text('document').notNullable();
      table.text('document_hash').notNullable();
    })
    .createTable('principal_keys', (table) => {
      table.text('kid').primary();
      table.text('principal').notNullable().references('principals.did');
      table.jsonb('public_jwk').notNullable();
      table.text('state').notNullable();
    })
    .createTable('status_lists', (table) => {
      table.text('url').primary();
      table.text('credential').notNullable();
      table.text('credential_hash').notNullable();
    })
    .createTable('grants', (table) => {
      table.text('id').primary();
      table.text('principal').notNullable().references('principals.did');
      table.text('agent').notNullable();
      table.text('status_list').notNullable().references('status_lists.url');
      table.text('status_list_index').notNullable();
      table.timestamp('revoked_at');
    })
    .createTable('spent_proofs', (table) => {
      table.text('grant_id');
      table.text('jti');
      table.timestamp('expires_at').notNullable();
      table.primary(['grant_id', 'jti']);
    })
    .createTable('receipts', (table) => {
      table.text('receipt_id').primary();
      table.text('relying_party').notNullable();
      table.text('principal').notNullable();
      table.text('grant_id').notNullable();
      table.text('agent').notNullable();
      table.text('key_id').notNullable();
      table.text('decision').notNullable();
      table.text('reason');
      table.timestamp('evaluated_at').notNullable();
      table.bigInteger('amount');
      table.text('currency');
      table.text('resource');
      table.text('jws').notNullable();
      table.index(['relying_party', 'receipt_id']);
      table.index(['principal', 'receipt_id']);
    });
}

export async function insertWorld(db: Knex, world: World): Promise<void> {
  const { principal, relyingParty, statusList, holders } = world;
  await db('relying_parties').insert({ did: relyingParty.did, proof_window_seconds: 300 });
  await db('api_keys').insert({
    key_hash: sha256Hex(relyingParty.apiKey),
    key_id: relyingParty.keyId,
    relying_party: relyingParty.did,
  });
  await db('principals').insert({
    did: principal.did,
    verification_state: 'verified',
    document: principal.document.text,
    document_hash: principal.document.hash,
  });
  await db('principal_keys').insert({
    kid: principal.kid,
    principal: principal.did,
    public_jwk: JSON.stringify(principal.publicJwk),
    state: 'active',
  });
  await db('status_lists').insert({
    url: statusList.url,
    credential: statusList.text,
    credential_hash: statusList.hash,
  });
  await db('grants').insert(
    holders.map((holder) => ({
      id: holder.grantId,
      principal: principal.did,
      agent: holder.agent,
      status_list: statusList.url,
      status_list_index: holder.statusListIndex,
    })),
  );
}
