# Builds what runs: programs by CMake, WebAssembly modules and pages. To be sourced after common.sh.
# shellcheck shell=bash
#
# A build tree has the layout of an installation: build/<preset>/bin/assay finds build/<preset>/share/assay/web.
# The pages and modules do not depend on the preset, so they are made once, in build/share/assay, and linked.

readonly SHARE="$ASSAY_ROOT/build/share/assay"
readonly LOGS="$ASSAY_ROOT/build/logs"
# Every build of the trainer that a browser can run; one measurement needs only those of its arms.
# shellcheck disable=SC2034 # used by the scripts that source this
readonly WASM_VARIANTS=(inputs wasm-scalar wasm-simd wasm-simd-mt wasm-relaxed-mt wasm64-simd-mt wasm64-relaxed-mt)

# Jobs that fit: a file with Beast or JSON takes up to 1.7 GB under sanitizers.
build_jobs() {
  local by_memory="" cores
  cores="$(processor_count)"
  [[ -r /proc/meminfo ]] && by_memory="$(awk '/MemAvailable/ { print int($2 / 1800000) }' /proc/meminfo)"
  by_memory="${by_memory:-$cores}"
  ((by_memory < 1)) && by_memory=1
  echo "$((by_memory < cores ? by_memory : cores))"
}

# build_programs PRESET [TARGET...]
build_programs() {
  local preset="$1"
  shift
  with_progress "configuring build/$preset" "$LOGS/configure-$preset.log" \
    cmake -S "$ASSAY_ROOT" --preset "$preset"
  with_progress "compiling build/$preset${*:+ ($*)}" "$LOGS/build-$preset.log" \
    cmake --build "$ASSAY_ROOT/build/$preset" --parallel "$(build_jobs)" ${1:+--target "$@"}
  mkdir -p "$ASSAY_ROOT/build/$preset/share"
  ln -sfn ../../share/assay "$ASSAY_ROOT/build/$preset/share/assay"
}

# digest_of_inputs PATH...: one digest over names and contents of tracked and new files below the paths (from the root).
digest_of_inputs() {
  (
    cd "$ASSAY_ROOT" || exit
    find "$@" -type f -not -path '*/node_modules/*' -not -path '*/generated/*' -not -name '*.test.ts' -print0 | LC_ALL=C sort -z |
      xargs -0 "$(have sha256sum && echo sha256sum || echo shasum)"
  ) | sha256_of -
}

# fresh STAMP DIGEST: true when the stamp holds this digest.
fresh() { [[ -f "$1" && "$(<"$1")" == "$2" ]]; }

# build_wasm VARIANT...: into share/assay/web/wasm; each variant only when its sources or the compiler changed.
build_wasm() {
  local environment digest stamp variant
  local -a libraries=() wanted=()
  for variant in "$@"; do
    case "$variant" in
      wasm64*) libraries+=(--libraries wasm64-threads) ;;
      *-mt) libraries+=(--libraries wasm32-threads) ;;
      *) libraries+=(--libraries wasm32) ;;
    esac
  done
  environment="$("$ASSAY_ROOT/tools/lib/emscripten.sh" "${libraries[@]}")"
  # shellcheck source=/dev/null
  source "$environment"
  digest="$({ digest_of_inputs trainer_wasm/src trainer_wasm/build_wasm.sh && "$EMXX" --version; } | sha256_of -)"
  mkdir -p "$ASSAY_ROOT/build/stamps"
  for variant in "$@"; do
    stamp="$ASSAY_ROOT/build/stamps/wasm-$variant"
    { fresh "$stamp" "$digest" && [[ -d "$SHARE/web/wasm" ]]; } || wanted+=("$variant")
  done
  ((${#wanted[@]} == 0)) && return
  for variant in "${wanted[@]}"; do rm -f "$ASSAY_ROOT/build/stamps/wasm-$variant"; done
  with_progress "WebAssembly modules: ${wanted[*]}" "$LOGS/wasm.log" \
    "$ASSAY_ROOT/trainer_wasm/build_wasm.sh" "$SHARE/web/wasm" "${wanted[@]}"
  for variant in "${wanted[@]}"; do echo "$digest" >"$ASSAY_ROOT/build/stamps/wasm-$variant"; done
}

# build_web: the pages, shaders and policies into share/assay.
build_web() {
  local digest stamp="$ASSAY_ROOT/build/stamps/web"
  digest="$(digest_of_inputs trainer_wasm/web orchestrator/dashboard orchestrator/gate/policies shaders protocols package-lock.json \
    package.json)"
  fresh "$stamp" "$digest" && [[ -d "$SHARE/web/arm" ]] && return
  mkdir -p "$ASSAY_ROOT/build/stamps" "$SHARE/web"
  rm -f "$stamp"
  with_progress "pages" "$LOGS/web.log" node "$ASSAY_ROOT/trainer_wasm/web/build.mjs" "$SHARE/web"
  rm -rf "$SHARE/policies"
  cp -R "$ASSAY_ROOT/orchestrator/gate/policies" "$SHARE/policies"
  echo "$digest" >"$stamp"
}
