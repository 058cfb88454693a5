#!/usr/bin/env bash
# Launch, open the isolated page, hold a WebGPU device, close: ours beside playwright-core with the same binary and switches,
# in turn within one run; and the time from a trigger to a run's first warm-up step.
#   tools/bench.sh launch [--rounds N] [BROWSER...]     default: Chromium (--headless=new) and the headless shell, 9 rounds
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

rounds=9
browsers=()
while (($# > 0)); do
  case "$1" in
    --rounds) rounds="$2" && shift ;;
    -*) die "unknown option $1; see the head of tools/bench/launch.sh" ;;
    *) browsers+=("$1") ;;
  esac
  shift
done
if ((${#browsers[@]} == 0)); then
  for path in /usr/lib/chromium/chromium /usr/lib/chromium/chromium-headless-shell; do [[ -x "$path" ]] && browsers+=("$path"); done
fi
((${#browsers[@]} > 0)) || die "no browser: give the path of a Chrome or Chromium"

install_packages run
install_node_modules
build_programs release assay assay_launch_cycles
build_wasm inputs wasm-simd-mt
build_web
node "$ASSAY_ROOT/tools/bench/launch/compare.mjs" "$ASSAY_ROOT/build/release/bin" --rounds "$rounds" "${browsers[@]}"
