#!/usr/bin/env bash
# The WebGPU arm in headless Chromium: ms a step by preset (serial with both waits, pipelined), us by operation, TFLOP/s of
# square products by tile, gradients and drift against WebAssembly.
#   tools/bench.sh webgpu [--presets P,P] [--arm webgpu|webgpu-f16] [--peak TFLOPS] [--bundle DIR]
# CHROMIUM and GPU_SWITCHES name the browser and its switches for this machine's GPU. --bundle only writes what another
# machine needs into DIR and stops: there, measure.py and report.py need nothing but Python and CHROMIUM set.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

presets=small,medium,large,xl
bundle=""
arm=webgpu
peak=()
while (($# > 0)); do
  case "$1" in
    --presets) presets="$2" ;;
    --peak) peak=(--peak "$2") ;;
    --arm) arm="$2" ;;
    --bundle) bundle="$2" ;;
    *) die "unknown option $1; see the head of tools/bench/webgpu.sh" ;;
  esac
  shift 2
done

install_packages run
install_node_modules
build_wasm inputs wasm-simd-mt
folder="${bundle:-$ASSAY_ROOT/build/bench-webgpu}"
mkdir -p "$folder"
node "$ASSAY_ROOT/tools/bench/build_page.mjs" "$ASSAY_ROOT/tools/bench/webgpu" "$folder/page"
mkdir -p "$folder/page/wasm" "$folder/page/shaders"
for variant in inputs wasm-simd-mt; do cp "$SHARE/web/wasm/$variant".{mjs,wasm} "$folder/page/wasm/"; done
cp "$ASSAY_ROOT"/shaders/*.wgsl "$ASSAY_ROOT/shaders/kernels.json" "$folder/page/shaders/"
cp "$ASSAY_ROOT"/tools/bench/webgpu/{measure,report}.py "$folder/"
cp "$ASSAY_ROOT/tests/kernels/f16_check.py" "$folder/"
if [[ -n "$bundle" ]]; then
  say "the bundle is in $bundle"
  exit 0
fi

CHROMIUM="${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || true)}"
[[ -n "$CHROMIUM" ]] || CHROMIUM=/usr/lib/chromium/chromium-headless-shell
export CHROMIUM

tasks=("task=gemm&trans=nn,tn")
IFS=, read -ra wanted <<<"$presets"
for preset in "${wanted[@]}"; do
  for task in gradients drift repeats "steps&variants=kept-awake,map,no-timestamps" operations; do
    tasks+=("task=$task&preset=$preset&arm=$arm")
  done
done
results="$folder/results.jsonl"
rm -f "$results"
status=0
python3 "$folder/measure.py" "$folder/page" "$results" "${tasks[@]}" >/dev/null || status=$?
python3 "$folder/report.py" "$results" "${peak[@]}" || status=$?
exit "$status"
