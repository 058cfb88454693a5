#!/usr/bin/env bash
# Provides Emscripten 4.0.10 or newer and prints the path of an env.sh to source (PATH, EM_CONFIG, EM_CACHE, EMXX).
#
#   tools/lib/emscripten.sh [--libraries TARGET]...     TARGET: wasm32-threads, wasm32, wasm64-threads, wasm64
#
# An em++ on PATH that is new enough is used as it is (Homebrew's on macOS). Elsewhere, on Debian 12 and newer, the packages
# of Debian testing are unpacked into a private prefix in the user's cache, patched to use their own C library, and kept:
#   CACHE/emscripten/<version>/{root,bin,cache,config,env.sh}, and CACHE/emscripten/current -> <version>.
# --libraries builds Emscripten's system libraries for a target beforehand (minutes each, once), so that the first
# link of a module does not stand still without a word.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly MINIMUM_VERSION=4.0.10
readonly SUITE=forky
readonly HOME_FOLDER="$ASSAY_CACHE/emscripten"

emscripten_version() { "$1" --version 2>/dev/null | sed -n '1s/.*) \([0-9][0-9.]*\).*/\1/p'; }

# The address of the archive that this system itself uses for Debian packages.
debian_archive_address() {
  local codename
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
  # shellcheck disable=SC2016 # the $(...) are apt's own format fields
  apt-get indextargets --no-release-info --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$codename" '$1 == release { print $2; exit }'
}

# Every apt call of the private prefix: own lists, own cache, an empty status file, so that the whole closure comes.
private_apt() {
  local program="$1" folder="$2"
  shift 2
  "$program" -q -o APT::Get::Assume-Yes=true \
    -o Dir::State="$folder/state" -o Dir::State::status="$folder/state/status" \
    -o Dir::Cache="$folder/cache" -o Dir::Etc::SourceList="$folder/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)" \
    -o APT::Install-Recommends=false -o Debug::NoLocking=true "$@"
}

write_wrappers() {
  local prefix="$1" final="$2" tool python
  # The system's own, which outlives a version manager's choice of the day and starts faster.
  python="$(PATH="/usr/bin:$PATH" command -v python3)" || die "python3 is missing: sudo apt-get install python3"
  mkdir -p "$prefix/bin" "$prefix/cache"
  for tool in em++ emcc emar emranlib emcmake emconfigure; do
    printf '#!/bin/sh\nexport EM_CONFIG=%q EM_CACHE=%q\nexec %q %q "$@"\n' \
      "$final/config" "$final/cache" "$python" "$final/root/usr/share/emscripten/$tool.py" >"$prefix/bin/$tool"
    chmod +x "$prefix/bin/$tool"
  done
  cat >"$prefix/env.sh" <<ENV
export EM_CONFIG=$(printf %q "$final/config")
export EM_CACHE=$(printf %q "$final/cache")
export EMXX=$(printf %q "$final/bin/em++")
export PATH=$(printf %q "$final/bin"):"\$PATH"
ENV
}

patch_programs() {
  local root="$1" final_root="$2" file real
  local loader="$final_root/usr/lib64/ld-linux-x86-64.so.2" libraries="$final_root/usr/lib/x86_64-linux-gnu"
  local -A seen=()
  for file in "$root"/usr/lib/llvm-*/bin/{clang,clang++,clang-[0-9]*,lld,wasm-ld,llvm-ar,llvm-ranlib,llvm-nm,llvm-objcopy,llvm-strip,llvm-dwarfdump} \
    "$root"/usr/bin/wasm-*; do
    [[ -e "$file" ]] || continue
    real="$(realpath "$file")"
    [[ -n "${seen[$real]:-}" || "$(head -c 4 "$real" | tr -d '\0')" != $'\x7fELF' ]] && continue
    seen[$real]=1
    patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$real"
  done
  for file in "$root"/usr/lib/x86_64-linux-gnu/lib{LLVM,clang-cpp}*.so* "$root"/usr/lib/llvm-*/lib/lib{LLVM,clang-cpp}*.so*; do
    [[ -f "$file" && ! -L "$file" ]] || continue
    real="$(realpath "$file")"
    [[ -n "${seen[$real]:-}" ]] && continue
    seen[$real]=1
    patchelf --force-rpath --set-rpath "$libraries" "$real"
  done
}

make_prefix() {
  local work="$1" address version final llvm package
  { have apt-get && have dpkg; } || die "em++ $MINIMUM_VERSION or newer is needed: install Emscripten (macOS: brew install emscripten)"
  have patchelf || die "patchelf is missing: sudo apt-get install patchelf"
  [[ "$(dpkg --print-architecture)" == amd64 ]] || die "install em++ $MINIMUM_VERSION or newer; the private prefix is for amd64 only"
  address="$(debian_archive_address)"
  [[ -n "$address" ]] || die "no Debian source is configured here: install em++ $MINIMUM_VERSION or newer on PATH"

  mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial "$work"/prefix/root
  : >"$work/state/status"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$address" "$SUITE" >"$work/sources.list"
  with_progress "package lists of Debian $SUITE" "$work/update.log" private_apt apt-get "$work" update
  version="$(private_apt apt-cache "$work" policy emscripten | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')"
  version="${version%.}"
  version_at_least "${version:-0}" "$MINIMUM_VERSION" || die "Debian $SUITE offers emscripten ${version:-none}, $MINIMUM_VERSION is needed"
  final="$HOME_FOLDER/$version"
  if [[ ! -f "$final/env.sh" ]]; then
    with_progress "download of Emscripten $version, about 165 MB" "$work/download.log" \
      private_apt apt-get "$work" install --download-only --no-install-recommends emscripten
    say "unpacking"
    # Merged /usr: the folders that newer packages expect as links.
    mkdir -p "$work"/prefix/root/usr/{bin,sbin,lib,lib64}
    for package in bin sbin lib lib64; do ln -s "usr/$package" "$work/prefix/root/$package"; done
    for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$work/prefix/root"; done
    patch_programs "$work/prefix/root" "$final/root"
    ln -sfn ../nodejs "$work/prefix/root/usr/share/emscripten/node_modules"
    llvm="$(cd "$work/prefix/root/usr/lib" && echo llvm-*)"
    [[ -d "$work/prefix/root/usr/lib/$llvm" ]] || die "expected one LLVM in the prefix, found: $llvm"
    cat >"$work/prefix/config" <<CONFIG
LLVM_ROOT = '$final/root/usr/lib/$llvm/bin'
BINARYEN_ROOT = '$final/root/usr'
NODE_JS = '$(command -v node || command -v nodejs)'
FROZEN_CACHE = False
CONFIG
    write_wrappers "$work/prefix" "$final"
    rm -rf "$final"
    mv "$work/prefix" "$final"
  fi
  "$final/bin/em++" --version >"$work/version.log" 2>&1 || { cat "$work/version.log" >&2; rm -rf "$final"; die "the unpacked em++ does not start"; }
  # A link is replaced in one step by renaming another over it.
  ln -sfn "$version" "$HOME_FOLDER/.current.$$"
  mv -T "$HOME_FOLDER/.current.$$" "$HOME_FOLDER/current"
  say "Emscripten $version is ready"
}

build_libraries() {
  local target="$1" stamp work
  local -a flags=(-O3 -fno-exceptions)
  case "$target" in
    wasm32) ;;
    wasm32-threads) flags+=(-pthread) ;;
    wasm64) flags+=(-sMEMORY64=1) ;;
    wasm64-threads) flags+=(-pthread -sMEMORY64=1) ;;
    *) die "unknown library target $target" ;;
  esac
  stamp="$EM_CACHE/assay-$target.stamp"
  [[ -f "$stamp" ]] && return
  work="$(mktemp -d)"
  # Touches what the trainer uses: the C++ library, mathematics, memory and (with threads) atomics.
  cat >"$work/probe.cpp" <<'PROBE'
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
int main(int count, char **) {
  auto values = std::make_unique<std::vector<double>>(count + 3, std::exp(count));
  std::sort(values->begin(), values->end());
  std::printf("%s\n", std::to_string(std::tanh((*values)[0])).c_str());
}
PROBE
  with_progress "system libraries for $target (once, minutes)" "$work/build.log" \
    "$EMXX" "${flags[@]}" -msimd128 "$work/probe.cpp" -o "$work/probe.mjs"
  touch "$stamp"
  rm -rf "$work"
}

main() {
  local -a targets=()
  while (($# > 0)); do
    case "$1" in
      --libraries)
        [[ $# -ge 2 ]] || die "--libraries needs a target"
        targets+=("$2")
        shift 2
        ;;
      *) die "unknown argument $1 (see the head of tools/lib/emscripten.sh)" ;;
    esac
  done

  mkdir -p "$HOME_FOLDER"
  # Two runs at once: the second waits for the first and finds its work done. macOS has no flock and needs none here.
  if have flock; then
    exec 9>"$HOME_FOLDER/lock"
    flock -n 9 || { say "another run prepares Emscripten; waiting for it"; flock 9; }
  fi

  if have em++ && version_at_least "$(emscripten_version em++ || echo 0)" "$MINIMUM_VERSION" &&
    [[ "$(command -v em++)" != "$HOME_FOLDER"/* ]]; then
    mkdir -p "$HOME_FOLDER/system/cache"
    printf 'export EMXX=%q\nexport EM_CACHE=%q\n' "$(command -v em++)" "$HOME_FOLDER/system/cache" >"$HOME_FOLDER/system/env.sh"
    environment="$HOME_FOLDER/system/env.sh"
  else
    if [[ ! -f "$HOME_FOLDER/current/env.sh" ]]; then
      # What an interrupted run left; the lock says that nobody works in it.
      rm -rf "$HOME_FOLDER"/.making.*
      making="$(mktemp -d "$HOME_FOLDER/.making.XXXXXX")"
      trap 'rm -rf "$making"' EXIT
      make_prefix "$making"
    fi
    environment="$HOME_FOLDER/current/env.sh"
  fi
  # shellcheck source=/dev/null
  source "$environment"
  local target
  for target in "${targets[@]+"${targets[@]}"}"; do build_libraries "$target"; done
  echo "$environment"
}

main "$@"
