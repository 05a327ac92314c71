-- Which public key each kid of the service names: written once, since a kid is never used again.

create table service_keys (
  kid text collate "C" primary key,
  public_key text collate "C" not null,
  first_seen_at timestamptz not null default svc_now()
);
create trigger refuse_change
before update or delete on service_keys
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on service_keys
for each statement
execute function svc_refuse_change();
