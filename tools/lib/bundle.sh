# Stages an installation and packs it. To be sourced after build.sh; for tools/package.sh.
# shellcheck shell=bash

# Every system has these, and they belong to its kernel and loader; a copy of another version does harm.
readonly SYSTEM_LIBRARIES='^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil|libanl|libnss_.*)\.so'

# Copies the libraries that the program loads, and what those load, into lib/; their names are flat.
stage_libraries() {
  local program="$1" folder="$2" name path
  mkdir -p "$folder"
  # ldd lists the whole closure: "name => path (address)".
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | while read -r name path; do
    [[ "$name" =~ $SYSTEM_LIBRARIES ]] && continue
    cp -L "$path" "$folder/$name"
    chmod 644 "$folder/$name"
    echo "$path" >>"$folder/.paths"
  done
}

# The copyright files of the packages that the copied libraries and the headers compiled in come from.
stage_licences() {
  local folder="$1" paths="$2" package licence module
  mkdir -p "$folder"
  {
    xargs -r -n1 realpath <"$paths" | { xargs -r dpkg -S 2>/dev/null || true; } | cut -d: -f1
    # A path may be recorded below /lib where the package says /usr/lib, or the other way round.
    xargs -r -n1 realpath <"$paths" | sed 's|^/usr/|/|' | { xargs -r dpkg -S 2>/dev/null || true; } | cut -d: -f1
    printf '%s\n' libboost1.81-dev libboost1.83-dev nlohmann-json3-dev libcli11-dev
  } | sort -u | while read -r package; do
    [[ -f "/usr/share/doc/$package/copyright" ]] || continue
    cp -L "/usr/share/doc/$package/copyright" "$folder/$package.txt"
  done
  for module in lit lit-html lit-element @lit/reactive-element uplot @observablehq/plot; do
    for licence in "$ASSAY_ROOT/node_modules/$module"/LICENSE*; do
      [[ ! -f "$licence" ]] || cp "$licence" "$folder/npm-${module//\//-}.txt"
    done
  done
  for licence in "$ASSAY_ROOT"/node_modules/d3*/LICENSE; do
    [[ ! -f "$licence" ]] || cp "$licence" "$folder/npm-$(basename "$(dirname "$licence")").txt"
  done
  return 0
}

make_archive() {
  local output="$1" version name stage file
  version="$(sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' "$ASSAY_ROOT/CMakeLists.txt")"
  name="assay-$version-linux-x86_64"
  stage="$(mktemp -d "$ASSAY_ROOT/build/stage.XXXXXX")"
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$stage'" EXIT
  cmake --install "$ASSAY_ROOT/build/release" --prefix "$stage/$name" --component assay --strip >"$LOGS/install.log" 2>&1 ||
    { tail -n 20 "$LOGS/install.log" >&2; die "staging failed"; }
  for file in "$stage/$name"/bin/*; do
    stage_libraries "$file" "$stage/$name/lib"
    patchelf --force-rpath --set-rpath "\$ORIGIN/../lib" "$file"
  done
  stage_licences "$stage/$name/share/doc/assay/licences" "$stage/$name/lib/.paths"
  rm -f "$stage/$name/lib/.paths"
  for file in "$stage/$name"/lib/*; do patchelf --force-rpath --set-rpath "\$ORIGIN" "$file"; done
  # One order, one owner, one time, one set of modes: the same bytes each time.
  chmod -R u=rwX,go=rX "$stage/$name"
  tar -C "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu \
    -cf - "$name" | xz -6 -T1 >"$output/.$name.tar.xz"
  mv "$output/.$name.tar.xz" "$output/$name.tar.xz"
  say "$(du -h "$output/$name.tar.xz" | cut -f1) in $output/$name.tar.xz"
  echo "$output/$name.tar.xz"
}

make_deb() {
  local output="$1"
  with_progress "packing a .deb" "$LOGS/cpack.log" \
    cpack --config "$ASSAY_ROOT/build/release/CPackConfig.cmake" -G DEB -B "$output"
  rm -rf "$output/_CPack_Packages"
  find "$output" -maxdepth 1 -name 'assay_*.deb' -print
}
