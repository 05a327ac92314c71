# A deployment in containers of the image, beside a real PostgreSQL, for the checks of the image and of compose.yaml.
# start_deployment IMAGE: makes database, roles, migration, keys and fence; sets `environment`, `mounts`, the ports, and
# the runner's own environment and mounts.
start_deployment() {
  local image=$1 database_port
  read -r database_port api_port api_admin worker_admin runner_admin < <(free_ports 5)
  start_postgres "$database_port"
  local sql="postgres://postgres@127.0.0.1:$database_port"
  psql --quiet -v ON_ERROR_STOP=1 "$sql/postgres" -c "create role svc_owner login password 'o'" \
    -c "create role svc login password 's'" -c "create role svc_runner login password 'r'" -c "create database svc owner svc_owner encoding 'UTF8' template template0"
  make_secrets "$work/keys"
  mkdir "$work/fence"
  mkdir -m 700 "$work/runner"
  printf 'postgres://svc:s@127.0.0.1:%s/svc\n' "$database_port" > "$work/keys/database-url"
  printf 'postgres://svc_runner:r@127.0.0.1:%s/svc\n' "$database_port" > "$work/runner/database-url"
  chmod 600 "$work"/{keys,runner}/database-url
  chown -R 65532:65532 "$work"/{keys,fence,runner}
  mounts=(--volume "$work/keys:/run/secrets/svc:ro" --volume "$work/fence:/var/lib/svc-fence")
  runner_mounts=(--volume "$work/runner:/run/secrets/svc:ro")
  runner_environment=(--env DATABASE_URL_FILE=/run/secrets/svc/database-url --env "SVC_BASE_URL=http://localhost:$api_port"
    --env "SVC_STATUS_BASE_URL=http://localhost:$api_port/status-lists")
  environment=("${runner_environment[@]}" --env SVC_ADMIN_TOKEN_FILE=/run/secrets/svc/admin-token
    --env SVC_RECEIPT_KEYS=/run/secrets/svc/receipt-keys.json --env SVC_STATUS_KEYS=/run/secrets/svc/status-keys.json
    --env SVC_FENCE=file:///var/lib/svc-fence --env "SVC_PORT=$api_port")
  podman_run --rm --env "DATABASE_URL=postgres://svc_owner:o@127.0.0.1:$database_port/svc" "$image" \
    svc-admin migrate --service-role svc --runner-role svc_runner | grep 'svc may run the service' >/dev/null || fail 'svc-admin migrate'
}

# start_program NAME ADMIN_PORT IMAGE COMMAND…: starts it detached; it ends with the check.
start_program() { start_detached "$1" "${environment[@]}" --env "SVC_ADMIN_PORT=$2" "${mounts[@]}" "${@:3}"; }
# start_runner: the same with the runner's environment and mounts.
start_runner() { start_detached "$1" "${runner_environment[@]}" --env "SVC_ADMIN_PORT=$2" "${runner_mounts[@]}" "${@:3}"; }
start_detached() {
  podman_run --detach --name "$1" "${@:2}" >/dev/null
  at_end "podman_here rm --force --time 0 $1"
}

# await_ready NAME…: waits until each answers ready on its admin port, asked from inside by the command of the health
# check.
await_ready() {
  local name
  for name in "$@"; do
    until_ok 90 podman_here exec "$name" svc-health readyz || {
      podman_here logs --tail 20 "$name" >&2
      fail "$name does not become ready"
    }
  done
}
