#!/usr/bin/env bash
# The trainer's WebAssembly builds in headless Chromium: GFLOP/s by product, ms a step by preset and build, the share of
# the multiply-add peak, the curve over threads, and where the time of a step goes.
#   tools/bench.sh wasm [--presets P,P] [--variants V,V] [--steps N] [--threads N,N] [--bundle DIR]
# --bundle only writes what another machine needs (page, modules, scripts) into DIR and stops: there,
# `python3 DIR/report.py DIR/page ...` measures with nothing but Python and CHROMIUM set.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

variants=wasm-scalar,wasm-simd,wasm-simd-mt,wasm-relaxed-mt,wasm64-simd-mt
bundle=""
arguments=()
while (($# > 0)); do
  case "$1" in
    --variants) variants="$2" ;;
    --bundle) bundle="$2" ;;
    --presets | --steps | --threads) arguments+=("$1" "$2") ;;
    *) die "unknown option $1; see the head of tools/bench/wasm.sh" ;;
  esac
  shift 2
done

install_packages run
install_node_modules
IFS=, read -ra wanted <<<"$variants"
build_wasm "${wanted[@]}"
page="${bundle:-$ASSAY_ROOT/build/bench-wasm}/page"
mkdir -p "$page"
node "$ASSAY_ROOT/tools/bench/build_page.mjs" "$ASSAY_ROOT/tools/bench/wasm" "$page"
mkdir -p "$page/wasm"
for variant in "${wanted[@]}"; do cp "$SHARE/web/wasm/$variant".{mjs,wasm} "$page/wasm/"; done
if [[ -n "$bundle" ]]; then
  cp "$ASSAY_ROOT"/tools/bench/webgpu/measure.py "$ASSAY_ROOT"/tools/bench/wasm/report.py "$bundle/"
  say "the bundle is in $bundle"
  exit 0
fi
CHROMIUM="${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || true)}"
[[ -n "$CHROMIUM" ]] || CHROMIUM=/usr/lib/chromium/chromium-headless-shell
export CHROMIUM
exec python3 "$ASSAY_ROOT/tools/bench/wasm/report.py" "$page" --variants "$variants" "${arguments[@]}"
