#!/usr/bin/env bash
# Runs a test with the PostgreSQL that ASSAY_TEST_POSTGRESQL names, or with a throwaway cluster when it names none.
set -euo pipefail
if [[ -n "${ASSAY_TEST_POSTGRESQL:-}" ]]; then exec "$@"; fi
exec "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/with_postgresql.sh" "$@"
