#!/usr/bin/env bash
# The long fault run: 200 seeded trials and 100 runs in a row. CI runs 10 and 5 (tools/test.sh).
#   tests/faults/run_faults.sh [--seed N]      ASSAY=PATH names the binary, default build/release/bin/assay
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="${ASSAY:-$here/../../build/release/bin/assay}"
python3 "$here/fault_trials.py" --trials 200 --binary "$binary" "$@"
python3 "$here/flat_runs.py" --runs 100 --binary "$binary"
