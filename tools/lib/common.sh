# Shared by the scripts of tools/: messages, folders, versions and locks. To be sourced, not run.
# shellcheck shell=bash

ASSAY_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
# What is slow to make and shared by every checkout of one user.
ASSAY_CACHE="${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}"

# A line about progress. On standard error, so that standard output keeps to results.
say() { printf '[assay] %s\n' "$*" >&2; }

# Ends the script with one line that says what to do.
die() {
  printf '[assay] error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANT: true when version HAVE is WANT or newer (dotted numbers, any length).
version_at_least() {
  local -a have_parts want_parts
  local index have_part want_part
  IFS=. read -r -a have_parts <<<"$1"
  IFS=. read -r -a want_parts <<<"$2"
  for ((index = 0; index < ${#want_parts[@]}; ++index)); do
    have_part="${have_parts[index]:-0}"
    want_part="${want_parts[index]}"
    have_part="${have_part%%[!0-9]*}"
    if ((10#${have_part:-0} != 10#${want_part})); then
      ((10#${have_part:-0} > 10#${want_part}))
      return
    fi
  done
}

# sha256_of FILE...: one digest over the contents of the files, in the order given.
sha256_of() {
  if have sha256sum; then cat -- "$@" | sha256sum | cut -d' ' -f1; else cat -- "$@" | shasum -a 256 | cut -d' ' -f1; fi
}

processor_count() { nproc 2>/dev/null || sysctl -n hw.ncpu; }

# with_progress TITLE LOG COMMAND...: runs the command with its output in LOG and says every 20 seconds that it still
# works; when it fails, prints the end of the log and returns its status.
with_progress() {
  local title="$1" log="$2" status=0 started=$SECONDS ticker
  shift 2
  mkdir -p "$(dirname "$log")"
  say "$title (log: ${log#"$ASSAY_ROOT"/})"
  (
    # The sleep is ended with its loop: it would hold an inherited pipe open.
    trap 'kill "$pause" 2>/dev/null; exit 0' TERM
    while true; do
      sleep 20 &
      pause=$!
      wait "$pause"
      say "  $title: $((SECONDS - started)) s, $(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | tail -n 1 | cut -c1-100)"
    done
  ) &
  ticker=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  if ((status != 0)); then
    say "$title failed with status $status; the end of its log:"
    tail -n 40 "$log" >&2
  else
    say "  $title: done in $((SECONDS - started)) s"
  fi
  return "$status"
}
