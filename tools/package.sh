#!/usr/bin/env bash
# Makes a relocatable archive for Linux x86-64: the program with its libraries, pages, shaders, WebAssembly modules,
# policies and licences. It runs from any folder on Debian 12 or newer and Ubuntu 24.04 or newer.
#   ./tools/package.sh [--deb] [--output FOLDER]      FOLDER: build/package unless given; --deb makes a .deb instead
# The bytes are reproducible: the same commit built in the same place gives the same archive.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"
# shellcheck source=tools/lib/bundle.sh
source "$ASSAY_ROOT/tools/lib/bundle.sh"

output="$ASSAY_ROOT/build/package"
kind=archive
while (($# > 0)); do
  case "$1" in
    --deb) kind=deb; shift ;;
    --output)
      [[ $# -ge 2 ]] || die "--output needs a folder"
      output="$2"
      shift 2
      ;;
    *) die "unknown argument $1: ./tools/package.sh [--deb] [--output FOLDER]" ;;
  esac
done
[[ "$(uname -s)" == Linux ]] || die "archives are made on Linux; on macOS run from the build tree (tools/run.sh)"

install_packages run package
install_node_modules
build_programs release assay assay-native-arm
build_wasm "${WASM_VARIANTS[@]}"
build_web

mkdir -p "$output"
output="$(cd "$output" && pwd)"
# The time stamped on every packed file: the commit's own.
SOURCE_DATE_EPOCH="$(git -C "$ASSAY_ROOT" log -1 --format=%ct 2>/dev/null || echo 1700000000)"
export SOURCE_DATE_EPOCH
if [[ "$kind" == deb ]]; then make_deb "$output"; else make_archive "$output"; fi
