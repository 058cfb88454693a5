#!/usr/bin/env bash
# The archive runs, or the .deb installs, on a bare Debian root made by debootstrap. As root, with a network:
#   tests/package/bare_debian_test.sh ARCHIVE [SUITE]      SUITE: trixie (Debian 13) unless given
#   tests/package/bare_debian_test.sh PACKAGE.deb bookworm
# A .deb needs the release it was built on. Not part of tools/test.sh: it fetches a whole base system, and needs root.
set -euo pipefail
# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"

(($# >= 1)) || die "usage: tests/package/bare_debian_test.sh ARCHIVE|PACKAGE.deb [SUITE]"
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
inside() { chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

if [[ "$archive" == *.deb ]]; then
  assay=/usr/bin/assay
  cp "$archive" "$work/root/assay.deb"
  # systemd for its own check of the units; nothing is started.
  install_package() {
    inside apt-get update -q && inside apt-get install -q -y --no-install-recommends /assay.deb systemd
  }
  with_progress "installing the .deb" "$work/install.log" install_package
  inside systemd-analyze verify /lib/systemd/system/assay.service /lib/systemd/system/assay-agent.service
else
  assay=/opt/assay/bin/assay
  mkdir -p "$work/root/opt/assay"
  tar -C "$work/root/opt/assay" --strip-components=1 -xf "$archive"
fi
inside "$assay" --version
inside "$assay" keygen
status=0
inside "$assay" run --preset smoke --policy any || status=$?
# There is no browser in a bare root: an error that says so, not a crash.
((status == 5 || status == 3)) || die "without a browser: status $status"
if [[ "$archive" == *.deb ]]; then
  inside apt-get purge -q -y assay >"$work/purge.log" 2>&1 || { cat "$work/purge.log" >&2; die "the .deb cannot be removed"; }
  [[ ! -e "$work/root/usr/bin/assay" ]] || die "the removed .deb leaves its program"
fi
echo "[check] passed: $(basename "$archive") runs on bare $suite"
