-- When a key of the service stopped signing, and when it was found to have leaked: each once, for ever.

create table service_key_ends (
  kid text collate "C" not null references service_keys,
  state text not null check (state in ('retired', 'compromised')),
  ended_at timestamptz not null default svc_now(),
  primary key (kid, state)
);
create trigger refuse_change
before update or delete on service_key_ends
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on service_key_ends
for each statement
execute function svc_refuse_change();
