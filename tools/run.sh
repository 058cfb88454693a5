#!/usr/bin/env bash
# Installs what is missing, builds, runs one ABBA measurement and prints the receipt's summary, the receipt's path and
# the command that opens its page. Safe to run again.
#   ./tools/run.sh [ARGUMENTS OF assay run]
# Without arguments: on a software adapter `smoke` with the policy `any` (unqualified by definition), on hardware `large`.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"

install_packages run
install_node_modules
build_programs release assay
build_wasm inputs wasm-simd-mt
build_web

assay="$ASSAY_ROOT/build/release/bin/assay"
(($# == 0)) || exec "$assay" run "$@"
# The doctor says which adapter Chrome hands out; it answers with a status other than 0 when the gate would refuse.
report="$("$assay" doctor --json || true)"
adapter_class="$(node -e '
  const report = JSON.parse(require("fs").readFileSync(0, "utf8"));
  process.stdout.write(String(report.adapter_class ?? ""));' <<<"$report")" || adapter_class=""
case "$adapter_class" in
  hardware) choice=(--preset large --steps 20) ;;
  software | none)
    say "the adapter here is software ($adapter_class): the run will be unqualified, its figures say nothing about a GPU"
    choice=(--preset smoke --policy any)
    ;;
  *) die "assay doctor named no adapter class; run: $assay doctor" ;;
esac
status=0
"$assay" run "${choice[@]}" || status=$?
say "assay is $assay"
exit "$status"
