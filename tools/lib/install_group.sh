#!/usr/bin/env bash
# Installs the Debian packages of some groups of tools/dependencies/debian.txt: tools/lib/install_group.sh GROUP...
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/install.sh
source "$ASSAY_ROOT/tools/lib/install.sh"
(($# > 0)) || die "usage: tools/lib/install_group.sh GROUP..."
install_packages "$@"
