#!/usr/bin/env bash
# Acceptance on an Apple-silicon Mac: build, doctor, one verified run of `large`, the nightly job in the GUI session, and a
# report to attach. STATUS: unrun. No Apple machine was at hand when this was written; whoever runs it, please attach
# the report it makes.
#   ./tools/accept-mac.sh [--no-nightly]      run it in a Terminal window of the logged-in user, on mains power
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

nightly=1
case "${1:-}" in
  --no-nightly) nightly="" ;;
  "") ;;
  *) die "unknown argument $1: ./tools/accept-mac.sh [--no-nightly]" ;;
esac
[[ "$(uname -s)" == Darwin ]] || die "this is for macOS; on Linux run ./tools/run.sh"
[[ "$(uname -m)" == arm64 ]] || die "this is for Apple silicon"
# WindowServer hands Metal to sessions of the GUI only; over ssh Chrome gets a software adapter.
launchctl print "gui/$(id -u)" >/dev/null 2>&1 || die "no GUI session: log in at the screen (or by Screen Sharing) and run it in Terminal"

report="$ASSAY_ROOT/build/accept-mac"
mkdir -p "$report"
step() {
  local name="$1"
  shift
  say "$name"
  if "$@" >"$report/$name.txt" 2>&1; then echo "passed  $name"; else echo "FAILED  $name (status $?, see $report/$name.txt)"; fi |
    tee -a "$report/summary.txt"
}

: >"$report/summary.txt"
{
  sw_vers
  sysctl -n machdep.cpu.brand_string hw.ncpu hw.memsize
  pmset -g batt
  pmset -g therm
} >"$report/machine.txt" 2>&1 || true

install_packages run
install_node_modules
# Homebrew keeps OpenSSL out of the default search paths.
OPENSSL_ROOT_DIR="$(brew --prefix openssl@3)"
export OPENSSL_ROOT_DIR
build_programs release
build_wasm "${WASM_VARIANTS[@]}"
build_web

assay="$ASSAY_ROOT/build/release/bin/assay"
step unit-tests ctest --test-dir "$ASSAY_ROOT/build/release" --output-on-failure
step doctor "$assay" doctor
step run-large "$assay" run --preset large --steps 20 --quadruples 3 --policy apple-metal-3 --output "$report/large.assay.json"
step verify "$assay" verify "$report/large.assay.json"

if [[ -n "$nightly" ]]; then
  agents="$HOME/Library/LaunchAgents"
  mkdir -p "$agents" "$HOME/Library/Logs/Assay"
  sed -e "s|@ASSAY@|$assay|g" -e "s|@LOGS@|$HOME/Library/Logs/Assay|g" \
    "$ASSAY_ROOT/tools/packaging/assay.nightly.plist" >"$agents/assay.nightly.plist"
  launchctl bootout "gui/$(id -u)/assay.nightly" 2>/dev/null || true
  step nightly-installed launchctl bootstrap "gui/$(id -u)" "$agents/assay.nightly.plist"
  step nightly-listed launchctl print "gui/$(id -u)/assay.nightly"
fi

tar -C "$report/.." -czf "$ASSAY_ROOT/build/accept-mac.tar.gz" accept-mac
cat "$report/summary.txt"
echo "report: $ASSAY_ROOT/build/accept-mac.tar.gz"
! grep -q '^FAILED' "$report/summary.txt"
