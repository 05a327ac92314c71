-- runs-from: 0005-roles
-- What tells a standby of this server from one of another cluster, timeline or restored copy: random marks, the newest first, written
-- about once a second while a process has a replica to compare (replica.ts). A standby that has the newest one has followed this
-- server. `server`: the start of the server that wrote them, since one that was promoted, or started again, must write its own first.
create table replica_marks (
  is_only_row boolean primary key default true check (is_only_row),
  marks text[] not null default '{}',
  server timestamptz not null default '-infinity',
  marked_at timestamptz not null default '-infinity'
);
insert into replica_marks default values;
