#!/usr/bin/env bash
# Runs one suite of suites.sh in a shell of its own; for tools/test.sh.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/build.sh
source "$ASSAY_ROOT/tools/lib/build.sh"
# shellcheck source=tools/lib/suites.sh
source "$ASSAY_ROOT/tools/lib/suites.sh"
"suite_$1"
