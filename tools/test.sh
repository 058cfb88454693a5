#!/usr/bin/env bash
# Installs what is missing, builds, runs every test and ends with "N passed, N failed". Safe to run again.
#   ./tools/test.sh            every test: at most an hour on a fresh two-core machine, 20 minutes on a warm one
#   ./tools/test.sh --quick    without what takes long (browser tests, faults)
#   ./tools/test.sh --thorough also everything again under sanitizers, and the package: hours on two cores
#   ./tools/test.sh SUITE...   these suites only (see the list below)
# Each suite has its log under build/test-logs; the end of a failing one is printed.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"
# shellcheck source=tools/lib/suites.sh
source "$ASSAY_ROOT/tools/lib/suites.sh"

readonly QUICK=(tidy tools unit pages)
readonly ALL=(tidy tools unit pages modules commands kernels browser docs service faults lab)
readonly THOROUGH=("${ALL[@]}" load fuzz sanitizers service_sanitizers package)
readonly TEST_LOGS="$ASSAY_ROOT/build/test-logs"

case "${1:-}" in
  --quick) suites=("${QUICK[@]}") ;;
  "") suites=("${ALL[@]}") ;;
  --thorough) suites=("${THOROUGH[@]}") ;;
  -*) die "unknown argument $1: ./tools/test.sh [--quick | --thorough | SUITE...], suites: ${THOROUGH[*]}" ;;
  *) suites=("$@") ;;
esac
for suite in "${suites[@]}"; do
  declare -F "suite_$suite" >/dev/null || die "there is no suite $suite; suites: ${THOROUGH[*]}"
done

install_packages run test package
install_node_modules
mkdir -p "$TEST_LOGS"

passed=0 failed=0
declare -a summary=()
for suite in "${suites[@]}"; do
  log="$TEST_LOGS/$suite.log"
  started=$SECONDS
  status=0
  # A process of its own, so that a suite runs with -e: a function that stands in a condition does not.
  with_progress "suite $suite" "$log" bash "$ASSAY_ROOT/tools/lib/run_suite.sh" "$suite" || status=$?
  read -r suite_passed suite_failed < <(awk -f "$ASSAY_ROOT/tools/lib/count_tests.awk" "$log")
  # A suite that fails outside its tests, or that ran none, is a failure too.
  ((status != 0 && suite_failed == 0)) && suite_failed=1
  ((suite_passed + suite_failed == 0)) && suite_failed=1
  passed=$((passed + suite_passed))
  failed=$((failed + suite_failed))
  summary+=("$(printf '%-20s %5d passed %5d failed %6d s' "$suite" "$suite_passed" "$suite_failed" "$((SECONDS - started))")")
done

printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
((failed == 0))
