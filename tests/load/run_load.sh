#!/usr/bin/env bash
# The service under load. --short: about two minutes, for the suite; without it the long forms, with 1,000,000 receipts.
#   tests/load/run_load.sh [--short]        ASSAY_BUILD names the build, default build/release. Needs wrk and nginx, two cores.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
files=() lists=()
if [[ "${1:-}" == --short ]]; then
  files=(--seconds 2 --rounds 3)
  lists=(--receipts 100000 --seconds 4)
fi
failed=0
check() {
  local name="$1"
  shift
  if "$@"; then echo "[check] passed: $name"; else
    echo "[check] failed: $name"
    failed=1
  fi
}
check "static files at 0.8 of nginx or better" python3 "$here/static_files.py" "${files[@]}"
check "lists of receipts within 25 ms at 500 requests a second" python3 "$here/receipt_list.py" "${lists[@]}"
check "readers, idle connections and descriptors within their bounds" python3 "$here/many_connections.py"
[[ "${1:-}" == --short ]] || check "a measurement that requests do not disturb" python3 "$here/disturbance.py"
exit "$failed"
