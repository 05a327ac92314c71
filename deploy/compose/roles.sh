#!/bin/sh
# Run once by the image of PostgreSQL, on an empty data folder: the role that owns the database, the one for the service, which
# owns nothing, and the one for the conformance runner, which sees the queue of runs alone. Their passwords are files, which psql
# reads itself: its arguments and its environment are shown to others.
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
