#!/usr/bin/env bash
# Builds the trainer for WebAssembly: trainer_wasm/build_wasm.sh OUT_DIR VARIANT...
#
# Writes OUT_DIR/VARIANT.mjs and OUT_DIR/VARIANT.wasm for each variant:
#   inputs             weights and batches only: no SIMD, no threads (for the WebGPU arm)
#   wasm-scalar        one thread, no SIMD
#   wasm-simd          one thread, 128-bit SIMD
#   wasm-simd-mt       threads, 128-bit SIMD: the baseline of the published curve
#   wasm-relaxed-mt    threads, relaxed SIMD (fused multiply-add where the engine has it)
#   wasm64-simd-mt     as wasm-simd-mt with 64-bit addresses, for models past 4 GiB
#   wasm64-relaxed-mt  as wasm-relaxed-mt with 64-bit addresses
# `all` stands for every one. Needs em++ 4.0.10 or newer: from EMXX, else PATH.
set -euo pipefail

if [ $# -lt 2 ]; then
    echo "usage: $0 OUT_DIR VARIANT..." >&2
    exit 2
fi
out=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
source_folder=$here/src

if [ -z "${EMXX:-}" ]; then
    private=${XDG_CACHE_HOME:-$HOME/.cache}/assay/emscripten/current/env.sh
    if [ -f "$private" ]; then
        # shellcheck disable=SC1090
        . "$private"
    fi
fi
compiler=${EMXX:-em++}
if ! command -v "$compiler" >/dev/null; then
    echo "em++ is missing: install Emscripten 4.0.10 or newer, or run tools/run.sh, which provides one" >&2
    exit 1
fi

all=(inputs wasm-scalar wasm-simd wasm-simd-mt wasm-relaxed-mt wasm64-simd-mt wasm64-relaxed-mt)
if [ "$1" = all ]; then
    set -- "${all[@]}"
fi

# Every function that the C interface declares is exported; nothing else is.
exports=$(grep -oE '\bassay_[a-z0-9_]+\(' "$source_folder/abi.hpp" | tr -d '(' | sort -u | sed 's/^/_/' | paste -sd,)

mkdir -p "$out"
for variant in "$@"; do
    # -fno-math-errno and -ffp-contract=off as in the native build.
    # No path of the build machine ends up in a module.
    compile=(-std=c++20 -O3 -fno-exceptions -fno-rtti -ffp-contract=off -fno-math-errno -Wall -Wextra
             "-ffile-prefix-map=$here=trainer_wasm")
    link=(-sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT="web,worker,node" -sIMPORTED_MEMORY -sALLOW_MEMORY_GROWTH
          -sINITIAL_MEMORY=16MB -sSTACK_SIZE=1MB -sFILESYSTEM=0 -sEXPORTED_FUNCTIONS="$exports" -sINVOKE_RUN=0
          --no-entry)
    # The memory is made by the page with its initial size equal to its maximum, so growth is allowed at link time only
    # to let that size vary; it never happens.
    maximum=4GB
    case $variant in
        inputs | wasm-scalar) compile+=(-DASSAY_SCALAR) ;;
        wasm-simd | wasm-simd-mt | wasm64-simd-mt) compile+=(-msimd128) ;;
        wasm-relaxed-mt | wasm64-relaxed-mt) compile+=(-msimd128 -mrelaxed-simd) ;;
        *)
            echo "unknown variant $variant; known: ${all[*]}" >&2
            exit 2
            ;;
    esac
    case $variant in
        *-mt)
            compile+=(-pthread)
            link+=(-pthread -sPTHREAD_POOL_SIZE='Module["assayPoolSize"]||0' -sPTHREAD_POOL_SIZE_STRICT=2 -Wno-pthreads-mem-growth
                   -sDEFAULT_PTHREAD_STACK_SIZE=1MB)
            ;;
    esac
    case $variant in
        wasm64-*)
            # Newer em++ calls -sMEMORY64 deprecated in favour of -m64, which older ones lack.
            compile+=(-sMEMORY64=1 -Wno-deprecated)
            link+=(-sMEMORY64=1 -Wno-deprecated)
            maximum=16GB
            ;;
    esac
    link+=("-sMAXIMUM_MEMORY=$maximum")

    # Built beside its place and moved there last, so that a stopped build leaves no half of a pair.
    work=$(mktemp -d "$out/.build-$variant.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    objects=()
    compilers=()
    waited=0
    for file in "$source_folder"/*.cpp; do
        object=$work/$(basename "${file%.cpp}").o
        "$compiler" "${compile[@]}" -c "$file" -o "$object" &
        objects+=("$object")
        compilers+=($!)
        # Two at a time, the oldest awaited first: macOS has a bash without wait -n.
        if [ $((${#compilers[@]} - waited)) -ge 2 ]; then
            wait "${compilers[$waited]}"
            waited=$((waited + 1))
        fi
    done
    while [ $waited -lt ${#compilers[@]} ]; do
        wait "${compilers[$waited]}"
        waited=$((waited + 1))
    done
    "$compiler" "${compile[@]}" "${objects[@]}" "${link[@]}" -o "$work/$variant.mjs"
    mv "$work/$variant.wasm" "$work/$variant.mjs" "$out/"
    rm -rf "$work"
    trap - EXIT
    echo "$variant: $(wc -c <"$out/$variant.wasm" | tr -d ' ') bytes"
done
