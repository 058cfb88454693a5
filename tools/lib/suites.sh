# The test suites, one function each; tools/test.sh runs them. To be sourced after build.sh.
# shellcheck shell=bash
#
# A suite prints to its log, in the words of its runner or as "[check] passed: NAME", and returns 0 only when all passed.

# Rooms without input or output: these are built and run under AddressSanitizer and UndefinedBehaviorSanitizer too.
readonly PURE_ROOMS="core contract schedule gate analysis receipt run trainer"

ctest_in() {
  local preset="$1"
  shift
  ctest --test-dir "$ASSAY_ROOT/build/$preset" --verbose --no-tests=error --timeout 600 "$@"
}

# build_tests PRESET TARGET...: those of the targets that this tree has (a room without tests has no target).
build_tests() {
  local preset="$1" known target
  local -a wanted=()
  shift
  cmake -S "$ASSAY_ROOT" --preset "$preset" >&2
  known="$(ninja -C "$ASSAY_ROOT/build/$preset" -t targets all | sed -n 's/: phony$//p')"
  for target in "$@"; do grep -qx -- "$target" <<<"$known" && wanted+=("$target"); done
  ((${#wanted[@]} > 0)) || { echo "none of these targets exists: $*"; return 1; }
  cmake --build "$ASSAY_ROOT/build/$preset" --parallel "$(build_jobs)" --target "${wanted[@]}"
}

suite_tidy() {
  python3 -m unittest discover -v -s "$ASSAY_ROOT/tests/tidy" -p 'test_*.py' 2>&1
}

suite_tools() {
  python3 -m unittest discover -v -s "$ASSAY_ROOT/tests/tools" -p 'test_*.py' 2>&1
}

# Every room, the store on SQLite and on a PostgreSQL of its own.
suite_unit() {
  build_programs dev && ctest_in dev
}

suite_pages() {
  (cd "$ASSAY_ROOT" && npm run --silent typecheck && npx --no-install vitest run --config vitest.config.ts)
}

suite_modules() {
  build_wasm "${WASM_VARIANTS[@]}" && build_web &&
    echo "[check] passed: every WebAssembly variant and the pages build"
}

suite_kernels() {
  (cd "$ASSAY_ROOT" && npx --no-install vitest run --config vitest.kernels.config.ts)
}

# With the real program too: the pages that it serves and the sites that it writes.
suite_browser() {
  build_programs release assay && build_wasm "${WASM_VARIANTS[@]}" && build_web &&
    (cd "$ASSAY_ROOT" && npx --no-install vitest run --config vitest.browser.config.ts)
}

suite_sanitizers() {
  local room
  local -a targets=()
  for room in $PURE_ROOMS; do targets+=("test_$room"); done
  build_tests asan "${targets[@]}" && ctest_in asan -R "^(${PURE_ROOMS// /|})\$"
}

# The whole service, a smaller set: what handles bytes from outside.
suite_service_sanitizers() {
  build_tests asan test_browser test_store test_http test_lab &&
    ctest_in asan -R '^(browser|store|http|lab)$'
}

# Killed browsers, full disks and cut pipes at seeded moments; tests/faults/run_faults.sh runs many more.
suite_faults() {
  local binary="$ASSAY_ROOT/build/release/bin/assay"
  build_programs release assay && build_wasm inputs wasm-simd-mt && build_web
  python3 "$ASSAY_ROOT/tests/faults/fault_trials.py" --trials 10 --binary "$binary"
  python3 "$ASSAY_ROOT/tests/faults/flat_runs.py" --runs 5 --binary "$binary"
  python3 "$ASSAY_ROOT/tests/faults/queue_restart.py" --kills 2 --binary "$binary"
  python3 "$ASSAY_ROOT/tests/faults/attached_run.py" --binary "$binary"
}

# The real program: configuration, signals, TLS, webhooks, hostile clients, schedules, the command line as a client.
suite_service() {
  build_programs release assay && build_wasm inputs wasm-simd-mt && build_web &&
    python3 -m unittest discover -v -s "$ASSAY_ROOT/tests/service" -p 'test_*.py' 2>&1
}

# Half a minute of every fuzzer; tests/fuzz/run_fuzzers.sh gives each ten.
suite_fuzz() {
  SECONDS_EACH=30 JOBS="$(build_jobs)" "$ASSAY_ROOT/tests/fuzz/run_fuzzers.sh"
}

# The service under load, bounded: two minutes. tests/load/run_load.sh alone runs the long forms.
suite_load() {
  build_programs release assay && "$ASSAY_ROOT/tests/load/run_load.sh" --short
}

# A lab of 20 agents and 3 hubs whose parts die at random; without --jobs the script runs its 2,000. Then hand-outs and
# queries: what they do here, how long they take only where nothing else runs (tests/load/hand_outs.py, lab_receipts.py).
suite_lab() {
  local binary="$ASSAY_ROOT/build/release/bin/assay"
  build_programs release assay assay-native-arm && build_web
  "$ASSAY_ROOT/tools/lib/with_postgresql.sh" python3 "$ASSAY_ROOT/tests/faults/lab_chaos.py" --bin "$binary" --jobs 60
  "$ASSAY_ROOT/tools/lib/with_postgresql.sh" python3 "$ASSAY_ROOT/tests/load/hand_outs.py" --seconds 3 --hubs 2 --most-p99-ms 1000
  "$ASSAY_ROOT/tools/lib/with_postgresql.sh" python3 "$ASSAY_ROOT/tests/load/lab_receipts.py" --receipts 100000 --seconds 1 --most-p99-ms 1000
}

# Every command of the guides, with the built program.
suite_docs() {
  build_programs release assay && build_wasm inputs wasm-simd-mt && build_web &&
    python3 -m unittest discover -v -s "$ASSAY_ROOT/tests/docs" -p 'test_*.py' 2>&1
}

# verify, compare, export and import on files, and the page's verifier on the same ones.
suite_commands() {
  build_programs release assay && build_web && (cd "$ASSAY_ROOT" && npx --no-install vitest run --config vitest.commands.config.ts)
}

suite_package() {
  "$ASSAY_ROOT/tests/package/package_test.sh"
}
