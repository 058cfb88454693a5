#!/usr/bin/env bash
# Runs a command with a throwaway PostgreSQL cluster and ends the cluster whatever happens.
#   tools/lib/with_postgresql.sh COMMAND [ARGUMENT]...
# The command finds the store's address in ASSAY_TEST_POSTGRESQL (postgresql://..., a Unix socket, no network), and in
# ASSAY_TEST_POSTGRESQL_FOLDER the cluster's folder (data/, log). A missing PostgreSQL is an error, never a skip.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

(($# > 0)) || die "usage: tools/lib/with_postgresql.sh COMMAND [ARGUMENT]..."

# Debian keeps the programs out of PATH, by version.
postgresql_programs() {
  local candidate
  for candidate in /usr/lib/postgresql/*/bin; do [[ -x "$candidate/initdb" ]] && echo "$candidate"; done | sort -V | tail -n 1
}
programs="$(postgresql_programs)"
[[ -n "$programs" ]] || programs="$(dirname "$(command -v initdb || echo /nowhere/initdb)")"
[[ -x "$programs/postgres" ]] || die "PostgreSQL is missing: sudo apt-get install postgresql"

# A short path: a socket's address has at most 107 bytes.
folder="$(mktemp -d /tmp/assay-pg.XXXXXX)"
server=""
cleanup() {
  if [[ -n "$server" ]] && kill -0 "$server" 2>/dev/null; then
    kill -INT "$server" 2>/dev/null || true
    for _ in $(seq 50); do
      kill -0 "$server" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL refuses to run as root; Debian's package brings the user for it.
owner="$(id -un)"
as_owner=()
if ((EUID == 0)); then
  owner=postgres
  id "$owner" >/dev/null 2>&1 || die "there is no user postgres to run PostgreSQL as"
  chown "$owner" "$folder"
  as_owner=(setpriv --reuid "$owner" --regid "$(id -gn "$owner")" --init-groups)
fi
# Should this script be killed outright, the server ends with it.
bound=("${as_owner[@]+"${as_owner[@]}"}")
if have setpriv; then ((${#bound[@]} > 0)) || bound=(setpriv); bound+=(--pdeathsig INT); fi

cd "$folder"
"${as_owner[@]+"${as_owner[@]}"}" "$programs/initdb" -D "$folder/data" -U "$owner" -A trust -E UTF8 --locale=C --no-sync \
  >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; die "initdb failed"; }
"${bound[@]+"${bound[@]}"}" "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off \
  -c full_page_writes=off -c max_connections=200 >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 300); do
  "$programs/pg_isready" -q -h "$folder" && break
  kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; die "PostgreSQL did not start"; }
  sleep 0.1
done
"$programs/createdb" -h "$folder" -U "$owner" assay
export ASSAY_TEST_POSTGRESQL="postgresql://$owner@/assay?host=$folder"
export ASSAY_TEST_POSTGRESQL_FOLDER="$folder"
cd - >/dev/null
"$@"
