-- Claims of hosted DIDs by orgs (protocol §13): who registers a DID has not shown that it is theirs. `claim_expires_at` is
-- set until the domain is proven: the claim is released then, and before that yields to whoever proves the domain. A
-- relying party that is claimed decides nothing. What the operator registers, or the service hosts, is no claim.

alter table principals
add column claim_expires_at timestamptz check (
  claim_expires_at is null
  or (kind = 'hosted' and org_id is not null)
);
create index principals_claimed on principals (claim_expires_at) where claim_expires_at is not null;

alter table relying_parties
add column claim_expires_at timestamptz check (
  claim_expires_at is null
  or (kind = 'hosted' and org_id is not null)
);
-- What the domain has to say for an org's claim. Null where nobody asks the domain.
alter table relying_parties
add column verification_token text check (claim_expires_at is null or verification_token is not null);
create index relying_parties_claimed on relying_parties (claim_expires_at) where claim_expires_at is not null;

-- The tokens of orgs that asked for a DID while the claim of another stood.
create table contesting_claims (
  did text collate "C" not null,
  kind text not null check (kind in ('principal', 'relying_party')),
  org_id text collate "C" not null references orgs,
  token text not null,
  expires_at timestamptz not null,
  primary key (did, kind, org_id)
);
create index contesting_claims_by_org on contesting_claims (org_id);
create index contesting_claims_by_expiry on contesting_claims (expires_at);

-- Status lists of Principals that were released: their addresses are never given again.
create table released_status_lists (
  url text collate "C" primary key,
  principal text collate "C" not null,
  domain text collate "C" not null,
  number integer not null,
  released_at timestamptz not null default svc_now()
);
create index released_status_lists_by_domain on released_status_lists (domain, number desc);

-- Forgets a Principal that never proved its domain, with everything that was made under its name. No ALLOW rests on any
-- of it. Receipts that deny its Grants stay, with the evidence that they name.
create function svc_release_principal(p_did text)
returns void
language plpgsql
volatile
as $$
begin
  delete from api_keys where subject = p_did and role = 'principal';
  delete from agents where principal = p_did;
  delete from grants where principal = p_did;
  insert into released_status_lists (url, principal, domain, number)
  select url, principal, domain, number from status_lists where principal = p_did;
  delete from status_lists where principal = p_did;
  delete from principal_keys where principal = p_did;
  delete from principals where did = p_did and kind = 'hosted' and last_proven_at is null;
  if not found then
    raise exception '% is not there, or has proven its domain', p_did
      using errcode = 'integrity_constraint_violation';
  end if;
end;
$$;

-- Forgets a relying party that was claimed and has decided nothing.
create function svc_release_relying_party(p_did text)
returns void
language plpgsql
volatile
as $$
begin
  delete from api_keys where subject = p_did and role = 'rp';
  delete from relying_parties where did = p_did and claim_expires_at is not null;
  if not found then
    raise exception '% is not there, or no claim', p_did using errcode = 'integrity_constraint_violation';
  end if;
end;
$$;
