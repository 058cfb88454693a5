#!/usr/bin/env bash
# The archive runs on a bare Debian root made by debootstrap. As root, with a network:
#   tests/package/bare_debian_test.sh ARCHIVE [SUITE]     SUITE: trixie (Debian 13) unless given
# Not part of tools/test.sh: it fetches a whole base system, and needs root.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"

(($# >= 1)) || die "usage: tests/package/bare_debian_test.sh ARCHIVE [SUITE]"
archive="$1" suite="${2:-trixie}"
((EUID == 0)) || die "debootstrap needs root"
have debootstrap || die "debootstrap is missing: sudo apt-get install debootstrap"

work="$(mktemp -d)"
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # apt's own format fields
mirror="$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 'debian/*$')"
with_progress "debootstrap $suite" "$work/debootstrap.log" debootstrap --variant=minbase "$suite" "$work/root" "$mirror"
# The program asks the system about processes.
mount -t proc proc "$work/root/proc"
mkdir -p "$work/root/opt/assay"
tar -C "$work/root/opt/assay" --strip-components=1 -xf "$archive"
inside() { chroot "$work/root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root "$@"; }
inside /opt/assay/bin/assay --version
inside /opt/assay/bin/assay keygen
status=0
inside /opt/assay/bin/assay run --preset smoke --policy any || status=$?
# There is no browser in a bare root: an error that says so, not a crash.
((status == 5 || status == 3)) || die "without a browser: status $status"
echo "the archive runs on bare $suite"
