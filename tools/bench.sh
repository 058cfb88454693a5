#!/usr/bin/env bash
# Measures one part of the project and prints tables; never a test, since times depend on the machine.
#   tools/bench.sh NAME [ARGUMENTS]     NAME: a script of tools/bench/ (wasm, webgpu, ...)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
names=""
for script in "$here"/bench/*.sh; do names+=" $(basename "$script" .sh)"; done
if [[ $# -eq 0 || ! -x "$here/bench/$1.sh" ]]; then
  echo "usage: tools/bench.sh NAME [ARGUMENTS]   with NAME one of:$names" >&2
  exit 2
fi
name="$1"
shift
exec "$here/bench/$name.sh" "$@"
