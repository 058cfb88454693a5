#!/usr/bin/env bash
# Runs every fuzzer, each for SECONDS_EACH seconds (600 by default), and fails on the first finding.
#   tests/fuzz/run_fuzzers.sh [NAME...]     names as below; all by default
# New inputs stay in build/fuzz/corpus; the small kept corpora are tests/fuzz/corpus. A finding's input is left in
# build/fuzz/findings.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
build="$root/build/fuzz"
seconds="${SECONDS_EACH:-600}"
names=("$@")
((${#names[@]} > 0)) || names=(http_request run_request cdp_frames cron receipt policy)

cmake -S "$root" --preset fuzz >&2
cmake --build "$build" --parallel "${JOBS:-2}" --target fuzzers >&2
mkdir -p "$build/findings"
for name in "${names[@]}"; do
  mkdir -p "$build/corpus/$name"
  log="$build/$name.log"
  seeds=("$here/corpus/$name")
  case "$name" in
    run_request | policy | receipt) seeds+=("$root/protocols/examples/valid" "$root/protocols/examples/invalid") ;;
  esac
  [[ "$name" == receipt ]] && seeds+=("$root/results/nvidia-h200")
  status=0
  "$build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=32768 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "${seeds[@]}" >"$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 40 "$log"
    echo "[check] failed: the fuzzer $name found something; its input is in build/fuzz/findings"
    exit 1
  fi
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  echo "[check] passed: the fuzzer $name, $seconds s, $executions inputs, no finding"
done
