#!/usr/bin/env bash
# How good the statistics are on this machine, in two parts:
#   1. real A/A runs and how many claim a difference (tools/bench/aa_runs.sh)
#   2. the half-width of the 95 % interval beside tachometer's, on the same work (a step of `tiny`, one thread) in the same
#      wall time, each against itself
#   tools/bench.sh statistics [--runs N] [--rounds N]     runs: of part 1, 0 leaves it out; rounds: of part 2
# tachometer (npm, the version below) goes into the cache, not into the project; it drives Chrome by chromedriver.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

readonly TACHOMETER_VERSION=0.7.2
runs=60
rounds=3
while (($# > 0)); do
  case "$1" in
    --runs) runs="$2" ;;
    --rounds) rounds="$2" ;;
    *) die "unknown option $1; see the head of tools/bench/statistics.sh" ;;
  esac
  shift 2
done

install_packages run bench
install_node_modules
build_programs release assay
build_wasm inputs wasm-simd
build_web

peer="$ASSAY_CACHE/tachometer-$TACHOMETER_VERSION"
if [[ ! -x "$peer/node_modules/.bin/tachometer" ]]; then
  mkdir -p "$peer"
  [[ -f "$peer/package.json" ]] || echo '{"private": true}' >"$peer/package.json"
  with_progress "tachometer $TACHOMETER_VERSION" "$LOGS/tachometer.log" \
    npm install --prefix "$peer" --no-audit --no-fund --save-exact "tachometer@$TACHOMETER_VERSION"
fi

# tachometer asks npm for a chromedriver, which would download one; the system's own, of the browser's version, is on PATH.
mkdir -p "$peer/node_modules/chromedriver"
echo '{"name": "chromedriver", "version": "0.0.0", "main": "index.js"}' >"$peer/node_modules/chromedriver/package.json"
echo "exports.path = '$(command -v chromedriver)';" >"$peer/node_modules/chromedriver/index.js"

page="$ASSAY_ROOT/build/bench-statistics/page"
mkdir -p "$page"
(cd "$ASSAY_ROOT" && node tools/bench/build_page.mjs tools/bench/statistics "$page")
mkdir -p "$page/wasm"
cp "$SHARE/web/wasm/wasm-simd".{mjs,wasm} "$page/wasm/"

status=0
if ((runs > 0)); then "$ASSAY_ROOT/tools/bench/aa_runs.sh" --runs "$runs" || status=1; fi
python3 "$ASSAY_ROOT/tools/bench/statistics/compare_widths.py" --program "$ASSAY_ROOT/build/release/bin/assay" \
  --tachometer "$peer/node_modules/.bin/tachometer" --page "$page" --rounds "$rounds" || status=1
exit "$status"
