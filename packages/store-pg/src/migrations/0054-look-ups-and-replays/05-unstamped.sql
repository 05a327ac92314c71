-- The worker goes from Principal to Principal: in the order of time alone it read all of one that has many to find the next.
-- A version that runs beside this one reads by time (grants_unstamped). Where there are many Grants, the owner has built this
-- index before, concurrently (docs/operations.md, Upgrades).
create index if not exists grants_unstamped_by_principal on grants (principal, revocation_recorded_at)
where revocation_recorded_at is not null and revoked_at is null;
