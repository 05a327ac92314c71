#!/bin/sh
# PostgreSQL's image runs it once, on an empty data folder. It makes three roles: the owner of the database; the
# service's, which owns nothing; and the conformance runner's, which sees only the queue of runs. psql itself reads the
# passwords from files, since other users can see its arguments and its environment.
set -eu
for role in owner service runner; do
  [ -s "$SVC_PASSWORDS/$role-password" ] || { echo "$SVC_PASSWORDS/$role-password is missing or empty" >&2; exit 1; }
done
psql --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<'SQL'
\set owner_password `cat "$SVC_PASSWORDS/owner-password"`
\set service_password `cat "$SVC_PASSWORDS/service-password"`
\set runner_password `cat "$SVC_PASSWORDS/runner-password"`
create role svc_owner login password :'owner_password';
create role svc login password :'service_password';
create role svc_runner login password :'runner_password';
create database svc owner svc_owner encoding 'UTF8' template template0;
SQL
