-- The worker goes from Principal to Principal: in the order of time alone it read all of one that has many to find the next.
drop index grants_unstamped;
create index grants_unstamped on grants (principal, revocation_recorded_at)
where revocation_recorded_at is not null and revoked_at is null;
