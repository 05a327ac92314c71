# Common parts of the checks of deploy/. Exit code of a check: 0 holds, 1 does not, 77 could not run here for want of a
# tool, which it names. Everything that a check starts ends with it.
set -euo pipefail
deploy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$deploy")
work=$(mktemp -d "${TMPDIR:-/tmp}/svc-deploy.XXXXXX")
chmod 755 "$work"
cleanups=()

# shellcheck disable=SC2317
clean_up() {
  local code=$? one
  trap - EXIT
  for ((one = ${#cleanups[@]} - 1; one >= 0; one--)); do eval "${cleanups[one]}" >/dev/null 2>&1 || true; done
  rm -rf "$work"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
at_end() { cleanups+=("$1"); }

say() { printf '%s\n' "$*"; }
fail() { printf 'does not hold: %s\n' "$*" >&2; exit 1; }

# need TOOL PACKAGE …: names each missing tool with the Debian package that has it.
need() {
  local PATH=$PATH:/usr/sbin
  local missing=()
  while (($# > 0)); do
    command -v "$1" >/dev/null || missing+=("$1 (apt-get install $2)")
    shift 2
  done
  ((${#missing[@]} == 0)) && return
  printf 'cannot be checked here, missing: %s\n' "${missing[*]}" >&2
  exit 77
}

# Asks for a decision with this clone's SDKs.
need_built() { [[ -e $root/node_modules/tsx ]] || { echo 'cannot be checked here: run npm run build first' >&2; exit 77; }; }

# from_source EXPRESSION: evaluates it with `config` and `limits`, which the service itself reads and opens.
from_source() {
  (cd "$root" && node --conditions=svc-source --import tsx --input-type=module --eval "import * as config from './packages/config/src/index.ts';
    import * as limits from './packages/store-pg/src/store-limits.ts'; console.log($1)")
}
# connections_for PROCESSES RUNNERS: the max_connections of docs/operations.md, Database. PostgreSQL reserves 3 by
# default.
connections_for() {
  from_source "$1 * limits.CONNECTIONS_OF_PROCESS + $2 * limits.CONNECTIONS_OF_RUNNER + limits.CONNECTIONS_OF_OPERATORS + 3"
}

# free_ports N: N free ports of 127.0.0.1.
free_ports() {
  node -e 'const { createServer } = require("node:net"); const found = [];
    const next = () => { const one = createServer().listen(0, "127.0.0.1", () => { found.push(one);
      if (found.length < process.argv[1]) return next();
      console.log(found.map((each) => each.address().port).join(" ")); for (const each of found) each.close(); }); }; next();' "$1"
}

# until_ok SECONDS COMMAND…
until_ok() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# start_postgres PORT: starts Debian's server in the working folder, over TCP on 127.0.0.1. The superuser is postgres.
start_postgres() {
  local bin data=$work/postgres as=()
  bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)
  [[ -x $bin/initdb ]] || { say 'cannot be checked here, missing: a PostgreSQL server (apt-get install postgresql)' >&2; exit 77; }
  mkdir -p "$data"
  if ((EUID == 0)); then chown postgres "$data"; as=(setpriv --reuid=postgres --regid=postgres --clear-groups); fi
  "${as[@]}" "$bin/initdb" -D "$data/db" -U postgres --encoding=UTF8 --no-locale --auth=trust --no-sync >/dev/null
  "${as[@]}" "$bin/pg_ctl" -D "$data/db" -w -l "$data/log" -o "-p $1 -c listen_addresses=127.0.0.1 -k $data" start >/dev/null
  at_end "${as[*]} $bin/pg_ctl -D $data/db -m immediate stop"
}

# make_secrets FOLDER: makes keys as docs/operations.md describes them, readable only by their owner.
make_secrets() {
  mkdir -p "$1"
  node -e 'const { generateKeyPairSync, randomBytes } = require("node:crypto"); const { writeFileSync } = require("node:fs");
    for (const name of ["receipt", "status"]) { const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
      writeFileSync(`${process.argv[1]}/${name}-keys.json`, JSON.stringify({ keys: [{ kid: `${name}-1`, ...jwk }] }), { mode: 0o600 }); }
    writeFileSync(`${process.argv[1]}/admin-token`, randomBytes(24).toString("base64url"), { mode: 0o600 });' "$1"
}
