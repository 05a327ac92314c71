#!/bin/sh
# Run once by the image of PostgreSQL, on an empty data folder: the role that owns the database, the one for the service, which
# owns nothing, and the one for the conformance runner, which sees the queue of runs alone.
set -eu
psql --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres \
  --set=owner_password="$SVC_OWNER_PASSWORD" --set=service_password="$SVC_SERVICE_PASSWORD" \
  --set=runner_password="$SVC_RUNNER_PASSWORD" <<'SQL'
create role svc_owner login password :'owner_password';
create role svc login password :'service_password';
create role svc_runner login password :'runner_password';
create database svc owner svc_owner encoding 'UTF8' template template0;
SQL
