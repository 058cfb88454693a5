#!/usr/bin/env bash
# Real A/A runs: the same arm as A and as B, so that every claimed difference is a false one. Prints how many of the runs
# claim one (a 95 % interval without 1 in it) and fails above the bound, which chance alone passes once in a hundred times.
#   tools/bench.sh aa_runs [--runs N] [--quadruples N] [--steps N] [--arm ARM] [--preset P] [--slice-steps N]
# 60 runs of three quadruples take about twelve minutes. The machine need not be quiet: noise is what the method is for.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

arm=wasm-simd
arguments=()
while (($# > 0)); do
  case "$1" in
    --arm) arm="$2" ;;
    --runs | --quadruples | --steps | --preset | --warmup | --first-seed | --slice-steps) arguments+=("$1" "$2") ;;
    *) die "unknown option $1; see the head of tools/bench/aa_runs.sh" ;;
  esac
  shift 2
done

install_packages run
install_node_modules
build_programs release assay
build_wasm inputs "$arm"
build_web
exec python3 "$ASSAY_ROOT/tools/bench/statistics/aa_runs.py" --program "$ASSAY_ROOT/build/release/bin/assay" --arm "$arm" \
  "${arguments[@]}"
