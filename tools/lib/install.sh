# Installs what is missing: Debian packages by group and the npm packages of the lock. To be sourced after common.sh.
# shellcheck shell=bash

readonly DEBIAN_LIST="$ASSAY_ROOT/tools/dependencies/debian.txt"

# Lines of one group, comments removed: "package | alternative command=NAME".
dependency_lines() {
  awk -v group="[$1]" '{ sub(/[ \t]*#.*/, "") } /^\[/ { inside = ($1 == group); next } inside && NF { print }' "$DEBIAN_LIST"
}

is_installed() { [[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]; }
is_known_to_apt() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# Prints one line for each dependency of the groups that nothing on this machine meets: its alternatives.
missing_dependencies() {
  local group line command alternatives name met
  for group in "$@"; do
    while IFS= read -r line; do
      command="$(sed -n 's/.*command=\([^ ]*\).*/\1/p' <<<"$line")"
      alternatives="$(sed 's/command=[^ ]*//; s/|/ /g' <<<"$line")"
      [[ -n "$command" ]] && have "$command" && continue
      met=""
      for name in $alternatives; do
        if is_installed "$name"; then
          met=1
          break
        fi
        # An older alternative that happens to be installed must not stand in for a newer one that apt has.
        is_known_to_apt "$name" && break
      done
      [[ -n "$met" ]] || echo "$alternatives"
    done < <(dependency_lines "$group")
  done
}

as_root() {
  if ((EUID == 0)); then "$@"; elif have sudo; then sudo "$@"; else die "not root and no sudo; as root, run: $*"; fi
}

# install_packages GROUP...: asks apt only for what is missing, so that a second run needs neither root nor network.
install_packages() {
  local group missing line name
  local -a wanted=()
  if ! have apt-get; then
    check_commands_without_apt "$@"
    return
  fi
  missing="$(missing_dependencies "$@")"
  [[ -z "$missing" ]] && return
  with_progress "package lists" "$ASSAY_ROOT/build/logs/apt-update.log" as_root apt-get -q update
  missing="$(missing_dependencies "$@")"
  while IFS= read -r line; do
    [[ -n "$line" ]] || continue
    for name in $line; do
      if is_known_to_apt "$name"; then
        wanted+=("$name")
        continue 2
      fi
    done
    die "this system's archive has none of: $line"
  done <<<"$missing"
  with_progress "installing ${wanted[*]}" "$ASSAY_ROOT/build/logs/apt-install.log" \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${wanted[@]}"
}

# Where there is no apt nothing is installed; one line says what is missing.
check_commands_without_apt() {
  local group line command
  local -a missing=()
  for group in "$@"; do
    while IFS= read -r line; do
      command="$(sed -n 's/.*command=\([^ ]*\).*/\1/p' <<<"$line")"
      [[ -z "$command" || "$command" == g++ || "$command" == patchelf || "$command" == dpkg-* ]] && continue
      have "$command" || missing+=("$command")
    done < <(dependency_lines "$group")
  done
  if ((${#missing[@]} > 0)); then
    if have brew; then
      die "missing: ${missing[*]}; run: brew bundle --file=$ASSAY_ROOT/tools/dependencies/Brewfile"
    fi
    die "missing: ${missing[*]}; install them and the libraries that tools/dependencies/debian.txt names"
  fi
}

# npm ci when the lock is not the one that node_modules was made from.
install_node_modules() {
  local node_version digest stamp="$ASSAY_ROOT/node_modules/.assay-lock"
  have node || die "node is missing: install Node.js 18 or newer"
  node_version="$(node --version)"
  version_at_least "${node_version#v}" 18 || die "Node.js 18 or newer is needed, found $node_version"
  digest="$(sha256_of "$ASSAY_ROOT/package-lock.json")"
  [[ -f "$stamp" && "$(<"$stamp")" == "$digest" ]] && return
  with_progress "npm packages" "$ASSAY_ROOT/build/logs/npm.log" npm --prefix "$ASSAY_ROOT" ci --no-audit --no-fund
  echo "$digest" >"$stamp"
}
