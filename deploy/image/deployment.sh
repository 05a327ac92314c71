# A deployment in containers of the image, beside a real PostgreSQL: for the checks of the image and of compose.yaml.
# start_deployment IMAGE: database, roles, migration, keys, fence; sets `environment`, `mounts` and the ports.
start_deployment() {
  local image=$1 database_port
  read -r database_port api_port api_admin worker_admin runner_admin < <(free_ports 5)
  start_postgres "$database_port"
  local sql="postgres://postgres@127.0.0.1:$database_port"
  psql --quiet -v ON_ERROR_STOP=1 "$sql/postgres" -c "create role svc_owner login password 'o'" \
    -c "create role svc login password 's'" -c "create database svc owner svc_owner encoding 'UTF8' template template0"
  make_secrets "$work/keys"
  mkdir "$work/fence"
  chown -R 65532:65532 "$work/keys" "$work/fence"
  mounts=(--volume "$work/keys:/run/secrets/svc:ro" --volume "$work/fence:/var/lib/svc-fence")
  environment=(--env "DATABASE_URL=postgres://svc:s@127.0.0.1:$database_port/svc" --env "SVC_BASE_URL=http://localhost:$api_port"
    --env "SVC_STATUS_BASE_URL=http://localhost:$api_port/status-lists" --env "SVC_ADMIN_TOKEN=$(cat "$work/keys/admin-token")"
    --env SVC_RECEIPT_KEYS=/run/secrets/svc/receipt-keys.json --env SVC_STATUS_KEYS=/run/secrets/svc/status-keys.json
    --env SVC_FENCE=file:///var/lib/svc-fence --env "SVC_PORT=$api_port")
  podman_run --rm --env "DATABASE_URL=postgres://svc_owner:o@127.0.0.1:$database_port/svc" "$image" \
    svc-admin migrate --service-role svc | grep -q 'svc may run the service' || fail 'svc-admin migrate'
}

# start_program NAME ADMIN_PORT IMAGE COMMAND…: detached; ends with the check.
start_program() {
  local name=$1 admin=$2
  shift 2
  podman_run --detach --name "$name" "${environment[@]}" --env "SVC_ADMIN_PORT=$admin" "${mounts[@]}" "$@" >/dev/null
  at_end "podman_here rm --force --time 0 $name"
}

# await_ready NAME…: each says so on its admin port, asked from inside by the command that the health check uses.
await_ready() {
  local name
  for name in "$@"; do
    until_ok 90 podman_here exec "$name" svc-health readyz || {
      podman_here logs --tail 20 "$name" >&2
      fail "$name does not become ready"
    }
  done
}
