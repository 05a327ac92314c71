-- What was delegated: status lists, the Grants allocated in them, and the Proofs already spent (protocol §7, §9).

create table status_lists (
  url text collate "C" primary key,
  principal text collate "C" not null references principals,
  domain text collate "C" not null,
  number integer not null check (number > 0),
  size_bits integer not null check (size_bits > 0),
  next_ordinal integer not null default 0 check (next_ordinal between 0 and size_bits),
  permutation_key bytea not null,
  bits bytea not null,
  credential text not null,
  credential_hash text collate "C" not null references evidence,
  valid_from timestamptz not null,
  version bigint not null default 1,
  unique (domain, number)
);
create index status_lists_by_principal on status_lists (principal, number desc);
-- By what the credential says of its signer: which lists a key rotation leaves to be signed anew.
create index status_lists_by_signer on status_lists (split_part(credential, '.', 1), url);

-- revocation_recorded_at closes the Grant to new decisions; revoked_at is stamped afterwards, under the
-- Principal's exclusive lock, and is what the world is shown.
create table grants (
  id text collate "C" primary key,
  principal text collate "C" not null references principals,
  agent text collate "C" not null,
  status_list_url text collate "C" not null references status_lists,
  status_index integer not null check (status_index >= 0),
  allocated_at timestamptz not null default svc_now(),
  revocation_recorded_at timestamptz,
  revoked_at timestamptz,
  unique (status_list_url, status_index),
  check (revoked_at is null or revocation_recorded_at is not null)
);
create index grants_by_principal on grants (principal, id desc);
create index grants_by_agent on grants (agent, id desc);

-- Not partitioned: the replay key must be unique whatever the Proof says about its own time.
create table spent_proofs (
  grant_id text collate "C" not null,
  jti text collate "C" not null,
  expires_at timestamptz not null,
  primary key (grant_id, jti)
);

-- The Grant that an id stands for from its first ALLOW on. No foreign key: its check would wait for the revocation that
-- holds the row of the Grant.
create table allowed_grants (
  grant_id text collate "C" primary key,
  -- SHA-256 of the Grant as presented, as in its Receipts.
  grant_hash text collate "C" not null
);
