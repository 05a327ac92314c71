/** Stores a batch of decisions for the floor: spent Proofs, Receipts and the evidence they cite, in one statement. */
import type { Client } from 'pg';
import type { World } from '../fixtures/world.ts';

export interface Row {
  readonly receiptId: string;
  readonly grantId: string;
  readonly jti: string;
  readonly jws: string;
}

const SCHEMA = `
  create table spent_proofs (
    grant_id text collate "C", jti text collate "C", receipt_id text collate "C" not null, primary key (grant_id, jti));
  create table evidence (hash text collate "C" primary key, body text not null);
  create table receipts (receipt_id text collate "C" primary key, jws text not null) with (toast_tuple_target = 8160);
  alter table receipts alter column jws set storage external`;

const INSERT = `
  with spent as (
    insert into spent_proofs (grant_id, jti, receipt_id)
    select * from unnest($1::text[], $2::text[], $3::text[])
    on conflict do nothing returning receipt_id
  ), cited as (
    insert into evidence (hash, body) select * from unnest($5::text[], $6::text[]) on conflict do nothing
  )
  insert into receipts (receipt_id, jws)
  select receipt_id, jws from unnest($3::text[], $4::text[]) as decided (receipt_id, jws) join spent using (receipt_id)
  returning receipt_id`;

export const createTables = (client: Client) => client.query(SCHEMA);

/** Returns the ids of the stored Receipts. The Proofs of the others were already spent. */
export async function insertRows(client: Client, rows: readonly Row[], world: World): Promise<Set<string>> {
  const evidence = [world.principal.document, world.statusList];
  const { rows: stored } = await client.query<{ receipt_id: string }>({
    name: 'insert_rows',
    text: INSERT,
    values: [
      rows.map((row) => row.grantId),
      rows.map((row) => row.jti),
      rows.map((row) => row.receiptId),
      rows.map((row) => row.jws),
      evidence.map(({ hash }) => hash),
      evidence.map(({ text }) => text),
    ],
  });
  return new Set(stored.map((row) => row.receipt_id));
}
