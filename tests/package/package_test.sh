#!/usr/bin/env bash
# The archive: reproducible, small, complete, and able to measure from any folder with nothing of the build machine's.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"

# Each check is one line "[check] passed: NAME" or "[check] failed: NAME"; tools/test.sh counts them.
failures=0
check() {
  local name="$1"
  shift
  if "$@"; then echo "[check] passed: $name"; else
    echo "[check] failed: $name"
    failures=$((failures + 1))
  fi
}

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
first="$("$ASSAY_ROOT/tools/package.sh" --output "$work/first" | tail -n 1)"
second="$("$ASSAY_ROOT/tools/package.sh" --output "$work/second" | tail -n 1)"
check "packing twice gives the same bytes" cmp "$first" "$second"
check "the archive is under 20 MiB" test "$(stat -c %s "$first")" -lt $((20 << 20))

# A folder with a space: paths are quoted everywhere.
home="$work/a place"
mkdir -p "$home"
tar -C "$home" --strip-components=1 -xf "$first"
assay="$home/bin/assay"

# LIBRARY => PATH lines that lead outside the archive, the system's own apart.
foreign_libraries() {
  local program
  for program in "$home"/bin/*; do
    # The folder's name may hold blanks.
    ldd "$program" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(.*\) (0x[0-9a-f]*)$/\1 \2/p' | grep -vF " $home/" |
      grep -vE '^(libc|libm|libdl|libpthread|librt|libresolv|libutil|libanl)\.so' || true
  done
}
no_foreign_libraries() {
  local found
  found="$(foreign_libraries)"
  [[ -z "$found" ]] || { echo "$found"; return 1; }
}
check "every library but the system's own comes from the archive" no_foreign_libraries
no_file_names_the_build_machine() { ! grep -rlF "$ASSAY_ROOT" "$home"; }
check "no file names the folder it was built in" no_file_names_the_build_machine
check "pages, modules and shaders are there" test -f "$home/share/assay/web/arm/index.html" -a \
  -f "$home/share/assay/web/wasm/wasm-simd-mt.wasm" -a -f "$home/share/assay/web/shaders/kernels.json"
check "the licence and those of what is inside are there" test -f "$home/share/doc/assay/LICENSE" -a \
  -n "$(ls "$home/share/doc/assay/licences")"

# Nothing of this shell's settings reaches it.
bare() { env -i PATH=/usr/bin:/bin HOME="$work/home" LANG=C "$assay" "$@"; }
mkdir -p "$work/home"
check "the program starts" bare --version
check "it measures from where it was unpacked" bare run --preset smoke --steps 2 --policy any --output "$work/one.assay.json"
check "and what it left verifies" bare verify "$work/one.assay.json"

package="$("$ASSAY_ROOT/tools/package.sh" --deb --output "$work/deb" | tail -n 1)"
# Read to the end: a reader that stops early ends dpkg-deb with a broken pipe.
holds() { dpkg-deb -c "$package" | awk -v name="$1" '$6 == name { found = 1 } END { exit !found }'; }
check "the .deb holds the program" holds ./usr/bin/assay
check "the .deb holds the pages" holds ./usr/share/assay/web/arm/index.html
check "the .deb holds the service" holds ./usr/lib/systemd/system/assay.service
depends_on_openssl() { [[ "$(dpkg-deb -f "$package" Depends)" == *libssl3* ]]; }
check "the .deb names the libraries it needs" depends_on_openssl

((failures == 0))
